//! Merkle trees as CometBFT builds them (RFC 6962 with SHA-256).

use sha2::{Digest, Sha256};

/// A SHA-256 digest.
pub type Hash = [u8; 32];

const LEAF: [u8; 1] = [0];
const INNER: [u8; 1] = [1];

/// SHA-256 of some bytes.
pub fn sha256(bytes: &[u8]) -> Hash {
    Sha256::digest(bytes).into()
}

/// The root over some leaves; of none it is the digest of nothing.
pub(super) fn root<L: AsRef<[u8]>>(leaves: &[L]) -> Hash {
    match leaves {
        [] => sha256(&[]),
        [one] => leaf(one.as_ref()),
        more => {
            let (left, right) = more.split_at(split(more.len()));
            inner(&root(left), &root(right))
        }
    }
}

/// What shows that a leaf is under a root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    pub total: usize,
    pub index: usize,
    pub leaf: Hash,
    /// The digests beside the way to the root, from the leaf upwards.
    pub aunts: Vec<Hash>,
}

pub fn proof<L: AsRef<[u8]>>(leaves: &[L], index: usize) -> Option<Proof> {
    let bytes = leaves.get(index)?.as_ref();
    let mut aunts = Vec::new();
    collect_aunts(leaves, index, &mut aunts);
    Some(Proof { total: leaves.len(), index, leaf: leaf(bytes), aunts })
}

fn collect_aunts<L: AsRef<[u8]>>(leaves: &[L], index: usize, aunts: &mut Vec<Hash>) {
    if leaves.len() < 2 {
        return;
    }
    let middle = split(leaves.len());
    let (left, right) = leaves.split_at(middle);
    if index < middle {
        collect_aunts(left, index, aunts);
        aunts.push(root(right));
    } else {
        collect_aunts(right, index - middle, aunts);
        aunts.push(root(left));
    }
}

/// The largest power of two below a length of two or more.
fn split(length: usize) -> usize {
    length.next_power_of_two() / 2
}

fn leaf(bytes: &[u8]) -> Hash {
    Sha256::new().chain_update(LEAF).chain_update(bytes).finalize().into()
}

fn inner(left: &Hash, right: &Hash) -> Hash {
    Sha256::new().chain_update(INNER).chain_update(left).chain_update(right).finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_of_nothing_is_the_digest_of_nothing() {
        let text = hex::encode(root::<&[u8]>(&[]));
        assert_eq!(text, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    }

    #[test]
    fn a_tree_splits_at_the_largest_power_of_two_below_its_size() {
        assert_eq!([2, 3, 4, 5, 8, 9].map(split), [1, 2, 2, 4, 4, 8]);
    }

    #[test]
    fn every_proof_leads_to_the_root() {
        for total in 1..12 {
            let leaves: Vec<Vec<u8>> = (0..total).map(|n| vec![n; 3]).collect();
            for index in 0..leaves.len() {
                let proof = proof(&leaves, index).unwrap();
                assert_eq!(climb(&proof), root(&leaves), "{index} of {total}");
            }
        }
        assert_eq!(proof(&[[1_u8]], 1), None);
    }

    fn climb(proof: &Proof) -> Hash {
        fn step(index: usize, total: usize, leaf: Hash, aunts: &[Hash]) -> Hash {
            let Some((last, rest)) = aunts.split_last() else { return leaf };
            let middle = split(total);
            if index < middle {
                inner(&step(index, middle, leaf, rest), last)
            } else {
                inner(last, &step(index - middle, total - middle, leaf, rest))
            }
        }
        step(proof.index, proof.total, proof.leaf, &proof.aunts)
    }
}
