//! Keys that the server makes, for records that come without one.

use std::borrow::Cow;

use ring::rand::{SecureRandom, SystemRandom};
use treeql::error::{Code, Error};
use treeql::request::{Cell, Record};
use treeql::schema::{MadeKey, Table};

/// Adds the key to a record that has none, where the server makes the keys of the table; `true` if it did. The key
/// cannot be guessed.
pub fn add_key(table: &Table, record: &mut Record<'_>) -> Result<bool, Error> {
    let (Some(made), Some(key)) = (table.made_key, table.key()) else { return Ok(false) };
    let sent = record.iter().position(|(name, _)| *name == *key.alias);
    if sent.is_some_and(|place| record[place].1 != Cell::Null) {
        return Ok(false);
    }
    let text = Cow::Owned(make(made)?);
    let cell = if made == MadeKey::Random53 && !key.quoted { Cell::Number(text) } else { Cell::Text(text) };
    match sent {
        Some(place) => record[place].1 = cell,
        None => record.push((Cow::Owned(key.alias.to_string()), cell)),
    }
    Ok(true)
}

fn make(made: MadeKey) -> Result<String, Error> {
    match made {
        MadeKey::Random53 => {
            let mut bytes = [0; 8];
            // No source of chance is no reason for keys that can be guessed.
            SystemRandom::new()
                .fill(&mut bytes)
                .map_err(|_no_reason| Error::new(Code::Internal, "no random key"))?;
            Ok((u64::from_be_bytes(bytes) >> 11).to_string())
        }
        MadeKey::UuidV7 => Ok(uuid::Uuid::now_v7().to_string()),
    }
}
