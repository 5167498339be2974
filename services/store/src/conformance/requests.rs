//! Requests with an id of their own.

use std::sync::Arc;

use compozy_domain::RequestId;

use super::numbers::Numbers;
use crate::call::{Remember, Written};

/// A request as its caller names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The caller.
    pub principal: &'static str,
    /// The method.
    pub method: &'static str,
    /// Its id.
    pub id: RequestId,
    /// Stands for what it asks for.
    pub hash: [u8; 32],
}

impl Request {
    /// A request with a new id.
    #[must_use]
    pub fn new(method: &'static str) -> Self {
        let mut bytes = [0_u8; 16];
        compozy_domain::Random::fill(&Numbers, &mut bytes).expect("numbers never run out");
        let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let uuid = format!(
            "{}-{}-{}-{}-{}",
            &digits[..8],
            &digits[8..12],
            &digits[12..16],
            &digits[16..20],
            &digits[20..]
        );
        Self {
            principal: "local",
            method,
            id: RequestId::parse(&uuid).expect("it has the form of a UUID"),
            hash: [1; 32],
        }
    }

    /// The same id for something else.
    #[must_use]
    pub fn asking(&self, hash: u8) -> Self {
        Self {
            hash: [hash; 32],
            ..self.clone()
        }
    }

    /// What a call carries, with the answer's text as its bytes.
    #[must_use]
    pub fn remember<T: std::fmt::Debug>(&self) -> Remember<T> {
        self.remember_as(|written: &Written<T>| format!("{written:?}").into_bytes())
    }

    /// What a call carries, with bytes of the test's own.
    #[must_use]
    pub fn remember_as<T>(
        &self,
        encode: impl Fn(&Written<T>) -> Vec<u8> + Send + Sync + 'static,
    ) -> Remember<T> {
        Remember {
            principal: self.principal.to_owned(),
            method: self.method,
            request_id: self.id.clone(),
            hash: self.hash,
            encode: Arc::new(encode),
        }
    }
}
