//! Signatures, sequences and the public keys they show.

use akash_proto::cosmos::crypto::secp256k1::PubKey;
use akash_proto::cosmos::tx::signing::v1beta1::SignMode;
use akash_proto::cosmos::tx::v1beta1::mode_info::Sum;
use akash_proto::cosmos::tx::v1beta1::{SignDoc, SignerInfo};
use akash_types::Address;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use k256::ecdsa::signature::Verifier;
use k256::ecdsa::{Signature, VerifyingKey};
use prost::Message;

use super::Mode;
use crate::state::address;
use crate::state::auth::Account;
use crate::state::error::{Outcome, TxError, sdk};
use crate::state::events::Event;
use crate::state::gas::{SIGNATURE, Step};
use crate::state::run::Exec;
use crate::state::tx::Tx;

const ORIGIN: &str = "cosmos/cosmos-sdk@v0.53/x/auth/ante/sigverify.go:364";

/// Checks every signature and counts the sequences of the signers.
pub(super) fn check(exec: &mut Exec, tx: &Tx, mode: Mode) -> Outcome {
    set_public_keys(exec, tx, mode)?;
    check_count(exec, tx)?;
    for _ in &tx.raw.signatures {
        exec.gas.charge(SIGNATURE, "ante verify: secp256k1")?;
    }
    if tx.signer_infos.len() != tx.signers.len() {
        let (expected, got) = (tx.signers.len(), tx.signer_infos.len());
        return Err(sdk::UNAUTHORIZED
            .wrap(format_args!("invalid number of signer;  expected: {expected}, got {got}")));
    }
    for ((signer, info), signature) in
        tx.signers.iter().zip(&tx.signer_infos).zip(&tx.raw.signatures)
    {
        let account = signer_account(exec, *signer)?;
        check_one(exec, tx, mode, &account, info, signature).map_err(|error| error.at(ORIGIN))?;
    }
    exec.step(Step::Sequence)?;
    for signer in &tx.signers {
        let mut account = signer_account(exec, *signer)?;
        account.sequence = account.sequence.saturating_add(1);
        exec.tables.accounts.insert(*signer, account);
    }
    Ok(())
}

/// The first transaction of an account shows its key.
fn set_public_keys(exec: &mut Exec, tx: &Tx, mode: Mode) -> Outcome {
    for (index, (signer, info)) in tx.signers.iter().zip(&tx.signer_infos).enumerate() {
        let Some(key) = public_key(info)? else { continue };
        if mode != Mode::Simulate && address::of_public_key(&key) != Some(*signer) {
            return Err(sdk::INVALID_PUBKEY.wrap(format_args!(
                "pubKey does not match signer address {signer} with signer index: {index}"
            )));
        }
        let mut account = signer_account(exec, *signer)?;
        if account.public_key.is_none() && address::of_public_key(&key) == Some(*signer) {
            account.public_key = Some(key);
            exec.tables.accounts.insert(*signer, account);
        }
    }
    let signed = tx.signers.iter().zip(&tx.signer_infos).zip(&tx.raw.signatures);
    for ((signer, info), signature) in signed {
        let acc_seq = format!("{signer}/{}", info.sequence);
        exec.emit(Event::new("tx", [("acc_seq", acc_seq)]));
        exec.emit(Event::new("tx", [("signature", BASE64_STANDARD.encode(signature))]));
    }
    Ok(())
}

fn public_key(info: &SignerInfo) -> Outcome<Option<[u8; 33]>> {
    let Some(any) = &info.public_key else { return Ok(None) };
    let key: PubKey = akash_proto::from_any(any).map_err(|error| {
        let supported = "only /cosmos.crypto.secp256k1.PubKey is supported by this network";
        sdk::INVALID_PUBKEY.wrap(format_args!("{error}; {supported}"))
    })?;
    let key = <[u8; 33]>::try_from(key.key.as_slice())
        .map_err(|_| sdk::INVALID_PUBKEY.wrap("invalid length of compressed secp256k1 key"))?;
    Ok(Some(key))
}

fn check_count(exec: &Exec, tx: &Tx) -> Outcome {
    let (limit, got) = (exec.params().tx_sig_limit, tx.raw.signatures.len());
    if u64::try_from(got).is_ok_and(|got| got <= limit) {
        return Ok(());
    }
    Err(sdk::TOO_MANY_SIGNATURES.wrap(format_args!("signatures: {got}, limit: {limit}")))
}

fn signer_account(exec: &Exec, signer: Address) -> Outcome<Account> {
    exec.tables
        .accounts
        .get(&signer)
        .cloned()
        .ok_or_else(|| sdk::UNKNOWN_ADDRESS.wrap(format_args!("account {signer} does not exist")))
}

fn check_one(
    exec: &Exec,
    tx: &Tx,
    mode: Mode,
    account: &Account,
    info: &SignerInfo,
    signature: &[u8],
) -> Outcome {
    let key = match account.public_key {
        Some(key) => Some(key),
        None if mode == Mode::Simulate => None,
        None => return Err(sdk::INVALID_PUBKEY.wrap("pubkey on account is not set")),
    };
    let (expected, got) = (account.sequence, info.sequence);
    if expected != got {
        return Err(sdk::WRONG_SEQUENCE
            .wrap(format_args!("account sequence mismatch, expected {expected}, got {got}")));
    }
    let verify = matches!(mode, Mode::Check | Mode::Deliver);
    let Some(key) = key.filter(|_| verify) else { return Ok(()) };
    check_mode(info)?;
    let document = SignDoc {
        body_bytes: tx.raw.body_bytes.clone(),
        auth_info_bytes: tx.raw.auth_info_bytes.clone(),
        chain_id: exec.env.chain_id.clone(),
        account_number: account.number,
    };
    if verifies(&key, &document.encode_to_vec(), signature) {
        return Ok(());
    }
    Err(refused(account.number, &exec.env.chain_id))
}

fn refused(number: u64, chain_id: &str) -> TxError {
    sdk::UNAUTHORIZED.wrap(format_args!(
        "signature verification failed; please verify account number ({number}) and chain-id \
         ({chain_id}): (unable to verify single signer signature)"
    ))
}

fn check_mode(info: &SignerInfo) -> Outcome {
    let mode = match info.mode_info.as_ref().and_then(|mode| mode.sum.as_ref()) {
        Some(Sum::Single(single)) => single.mode,
        Some(Sum::Multi(_)) | None => SignMode::Unspecified as i32,
    };
    match SignMode::try_from(mode) {
        Ok(SignMode::Direct) => Ok(()),
        named => {
            let name =
                named.map_or_else(|_| mode.to_string(), |mode| mode.as_str_name().to_owned());
            Err(sdk::NOT_SUPPORTED.wrap(format_args!(
                "sign mode {name} is not supported by this network, use SIGN_MODE_DIRECT"
            )))
        }
    }
}

/// Whether `signature` (R‖S, low S) is of `key` over the SHA-256 of `bytes`.
fn verifies(key: &[u8; 33], bytes: &[u8], signature: &[u8]) -> bool {
    let Ok(key) = VerifyingKey::from_sec1_bytes(key) else { return false };
    let Ok(signature) = Signature::from_slice(signature) else { return false };
    // The chain takes only one of the two forms that every signature has.
    signature.normalize_s() == signature && key.verify(bytes, &signature).is_ok()
}
