//! A transaction that was made elsewhere: signed as it is, whatever stands in its body and whatever
//! fee it offers.

use akash_proto::cosmos::tx::v1beta1::{AuthInfo, Tx};
use prost::Message as _;
use prost_types::Any;

use super::build::{check, direct};
use super::message::PackedError;
use super::{BuildError, Message, SignedTx, Signer, Unsigned};

/// For which chain and which turn of its account a transaction is signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignFor<'a> {
    /// The chain.
    pub chain_id: &'a str,
    /// Number of the signer's account.
    pub account_number: u64,
    /// How many transactions the account has sent before it.
    pub sequence: u64,
}

/// Why a transaction cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GivenError {
    /// A message that is not understood: who signs it would sign anything.
    #[error("message {index} of the transaction")]
    Message {
        /// Which, from 0.
        index: usize,
        /// What is wrong with it.
        source: PackedError,
    },
    /// There is nothing in it, or it is for others to sign.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// It says nothing of a fee, not even of gas.
    #[error("the transaction has no fee")]
    NoFee,
    /// Somebody else is to pay, and would have to sign as well.
    #[error("the transaction is paid by {payer}, who must sign it too; this program signs alone")]
    Payer {
        /// Who.
        payer: String,
    },
    /// Nobody has signed it.
    #[error("the transaction has no signature; sign it first")]
    NoSignature,
}

/// A transaction that was made elsewhere.
#[derive(Clone, Debug, PartialEq)]
pub struct GivenTx {
    tx: Tx,
    messages: Vec<Message>,
}

impl GivenTx {
    /// Looks at a transaction.
    pub fn new(tx: Tx) -> Result<Self, GivenError> {
        let read = |(index, any): (usize, &Any)| {
            Message::from_any(any.clone()).map_err(|source| GivenError::Message { index, source })
        };
        let messages = tx.body.iter().flat_map(|body| &body.messages).enumerate().map(read);
        Ok(Self { messages: messages.collect::<Result<_, _>>()?, tx })
    }

    /// What it does.
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// The transaction to be signed by `signer`, in place of whoever has signed it before.
    pub fn unsigned<S: Signer>(
        &self,
        sign_for: SignFor<'_>,
        signer: S,
    ) -> Result<Unsigned<S>, GivenError> {
        let SignFor { chain_id, account_number, sequence } = sign_for;
        check(&self.messages, chain_id, signer.address())?;
        let given = self.tx.auth_info.clone().unwrap_or_default();
        let payer = &given.fee.as_ref().ok_or(GivenError::NoFee)?.payer;
        if !payer.is_empty() && *payer != signer.address().to_string() {
            return Err(GivenError::Payer { payer: payer.clone() });
        }
        let auth_info = AuthInfo { signer_infos: vec![direct(&signer, sequence)], ..given };
        let body = self.tx.body.clone().unwrap_or_default();
        Ok(Unsigned::of(&body, &auth_info, chain_id, account_number, signer))
    }
}

/// A transaction that was signed elsewhere, to be broadcast whatever it does.
pub fn signed_elsewhere(tx: &Tx) -> Result<SignedTx, GivenError> {
    match tx.signatures.is_empty() {
        true => Err(GivenError::NoSignature),
        // On the wire the parts are bytes, as they are in what was signed.
        false => Ok(SignedTx::from_raw(tx.encode_to_vec())),
    }
}

#[cfg(test)]
mod tests {
    use akash_proto::cosmos::bank::v1beta1::MsgSend;
    use akash_proto::cosmos::tx::v1beta1::{Fee, TxBody, TxRaw};
    use akash_proto::to_any;

    use super::*;
    use akash_keys::SecretKey;

    const SIGN_FOR: SignFor<'static> =
        SignFor { chain_id: "local", account_number: 7, sequence: 2 };

    fn key(byte: u8) -> SecretKey {
        SecretKey::from_bytes(&[byte; 32]).unwrap()
    }

    fn tx(senders: &[u8], fee: Option<Fee>) -> Tx {
        let send = |byte: &u8| {
            let from_address = Signer::address(&key(*byte)).to_string();
            to_any(&MsgSend { from_address, ..MsgSend::default() })
        };
        let messages = senders.iter().map(send).collect();
        let body = TxBody { messages, memo: "as given".to_owned(), ..TxBody::default() };
        let auth_info = AuthInfo { fee, ..AuthInfo::default() };
        Tx { body: Some(body), auth_info: Some(auth_info), signatures: Vec::new() }
    }

    fn unsigned(tx: Tx) -> Result<Unsigned<SecretKey>, GivenError> {
        GivenTx::new(tx)?.unsigned(SIGN_FOR, key(1))
    }

    #[test]
    fn nothing_but_the_signer_changes() {
        let fee = Fee { gas_limit: 9, granter: "somebody".to_owned(), ..Fee::default() };
        let given = tx(&[1, 1], Some(fee));
        let signed = unsigned(given.clone()).unwrap().sign();
        let sent = Tx::decode(signed.raw()).unwrap();
        assert_eq!(sent.body, given.body);
        assert_eq!(sent.auth_info.as_ref().unwrap().fee, given.auth_info.unwrap().fee);
        assert_eq!(sent.signatures.len(), 1);
        assert_eq!(signed_elsewhere(&sent).unwrap(), signed);

        // Signing once more gives the same, whoever had signed before.
        assert_eq!(unsigned(sent).unwrap().sign(), signed);
        let raw = TxRaw::decode(signed.raw()).unwrap();
        let again = unsigned(Tx::decode(signed.raw()).unwrap()).unwrap();
        assert_eq!(again.body_bytes(), raw.body_bytes);
        assert!(key(1).public_key().verify(again.sign_bytes(), &raw.signatures[0]));
    }

    #[test]
    fn what_is_not_for_this_signer_alone_is_not_signed() {
        let fee = || Some(Fee::default());
        let others = Some(Fee { payer: "akash1other".to_owned(), ..Fee::default() });
        let own = Some(Fee { payer: Signer::address(&key(1)).to_string(), ..Fee::default() });
        assert!(unsigned(tx(&[1], own)).is_ok());
        let refused = |tx| unsigned(tx).unwrap_err();
        assert!(matches!(refused(tx(&[1], others)), GivenError::Payer { .. }));
        assert!(matches!(refused(tx(&[1], None)), GivenError::NoFee));
        let wrong = refused(tx(&[1, 2], fee()));
        assert!(matches!(wrong, GivenError::Build(BuildError::WrongSigner { .. })));
        assert_eq!(refused(tx(&[], fee())), GivenError::Build(BuildError::NoMessages));
        assert_eq!(signed_elsewhere(&tx(&[1], fee())), Err(GivenError::NoSignature));
        let mut unknown = tx(&[1, 1], fee());
        unknown.body.as_mut().unwrap().messages[1].type_url = "/x.Y".to_owned();
        assert!(matches!(refused(unknown), GivenError::Message { index: 1, .. }));
    }
}
