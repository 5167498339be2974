//! What is served: every method by its path, read from the descriptors. Layers treat a call by what is known here.

use std::collections::HashMap;
use std::sync::Arc;

use prost_types::FileDescriptorSet;

/// The service that everybody may ask, with or without a token, also while the server drains.
pub const HEALTH_SERVICE: &str = "grpc.health.v1.Health";

/// One method.
#[derive(Debug, PartialEq, Eq)]
pub struct Method {
    /// `package.Service/Method`, or `_OTHER` for a path that nobody serves: metrics need a bounded set of names.
    pub name: Arc<str>,
    /// Whether a side sends more than one message. Such calls have no deadline unless the caller sets one.
    pub streaming: bool,
    /// Whether the caller sends more than one message.
    pub client_streaming: bool,
    /// Whether it needs no token.
    pub open: bool,
}

/// Methods by path.
#[derive(Debug, Clone)]
pub struct Methods {
    known: Arc<HashMap<String, Arc<Method>>>,
    other: Arc<Method>,
}

impl Methods {
    /// The methods of every service in these descriptors.
    #[must_use]
    pub fn of(descriptors: &FileDescriptorSet) -> Self {
        let mut known = HashMap::new();
        for file in &descriptors.file {
            for service in &file.service {
                let service_name = format!("{}.{}", file.package(), service.name());
                for method in &service.method {
                    let name = format!("{service_name}/{}", method.name());
                    let described = Method {
                        name: name.as_str().into(),
                        streaming: method.client_streaming() || method.server_streaming(),
                        client_streaming: method.client_streaming(),
                        open: service_name == HEALTH_SERVICE,
                    };
                    known.insert(format!("/{name}"), Arc::new(described));
                }
            }
        }
        let other = Arc::new(Method {
            name: "_OTHER".into(),
            streaming: false,
            client_streaming: false,
            open: false,
        });
        Self {
            known: Arc::new(known),
            other,
        }
    }

    /// The method at this path.
    #[must_use]
    pub fn find(&self, path: &str) -> Arc<Method> {
        Arc::clone(self.known.get(path).unwrap_or(&self.other))
    }
}
