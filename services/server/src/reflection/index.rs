//! Files by name and by what they define.

use std::collections::BTreeMap;

use prost::Message as _;
use prost_types::{DescriptorProto, EnumDescriptorProto, FileDescriptorProto, FileDescriptorSet};

/// Encoded files, found by name or symbol.
#[derive(Debug)]
pub(super) struct Index {
    files: Vec<Vec<u8>>,
    names: BTreeMap<String, usize>,
    symbols: BTreeMap<String, usize>,
    services: Vec<String>,
}

impl Index {
    pub(super) fn of(descriptors: &FileDescriptorSet) -> Self {
        let mut index = Self {
            files: Vec::new(),
            names: BTreeMap::new(),
            symbols: BTreeMap::new(),
            services: Vec::new(),
        };
        for file in &descriptors.file {
            index.add_file(file);
        }
        index.services.sort();
        index
    }

    pub(super) fn file(&self, name: &str) -> Option<&[u8]> {
        self.names.get(name).map(|at| self.files[*at].as_slice())
    }

    pub(super) fn symbol(&self, name: &str) -> Option<&[u8]> {
        self.symbols.get(name).map(|at| self.files[*at].as_slice())
    }

    pub(super) fn services(&self) -> impl Iterator<Item = &str> {
        self.services.iter().map(String::as_str)
    }

    fn add_file(&mut self, file: &FileDescriptorProto) {
        let at = self.files.len();
        self.files.push(file.encode_to_vec());
        self.names.insert(file.name().to_owned(), at);
        let package = file.package();
        for message in &file.message_type {
            self.add_message(package, message, at);
        }
        for described in &file.enum_type {
            self.add_enum(package, described, at);
        }
        for service in &file.service {
            let name = join(package, service.name());
            for method in &service.method {
                self.symbols.insert(join(&name, method.name()), at);
            }
            self.symbols.insert(name.clone(), at);
            self.services.push(name);
        }
    }

    fn add_message(&mut self, scope: &str, message: &DescriptorProto, at: usize) {
        let name = join(scope, message.name());
        for field in &message.field {
            self.symbols.insert(join(&name, field.name()), at);
        }
        for oneof in &message.oneof_decl {
            self.symbols.insert(join(&name, oneof.name()), at);
        }
        for nested in &message.nested_type {
            self.add_message(&name, nested, at);
        }
        for described in &message.enum_type {
            self.add_enum(&name, described, at);
        }
        self.symbols.insert(name, at);
    }

    /// The values of an enum belong to the scope around it.
    fn add_enum(&mut self, scope: &str, described: &EnumDescriptorProto, at: usize) {
        self.symbols.insert(join(scope, described.name()), at);
        for value in &described.value {
            self.symbols.insert(join(scope, value.name()), at);
        }
    }
}

fn join(scope: &str, name: &str) -> String {
    if scope.is_empty() {
        name.to_owned()
    } else {
        format!("{scope}.{name}")
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn files_are_found_by_name_and_by_everything_in_them() {
        let index = Index::of(&crate::descriptors::all().unwrap());
        let admin = index.file("compozy/admin/v1/admin_service.proto").unwrap();
        for symbol in [
            "compozy.admin.v1.AdminService",
            "compozy.admin.v1.AdminService.Shutdown",
            "compozy.admin.v1.Limits",
            "compozy.admin.v1.Limits.page_limit_max",
            "compozy.admin.v1.StoreKind",
            "compozy.admin.v1.STORE_KIND_SQLITE",
        ] {
            assert_eq!(index.symbol(symbol), Some(admin), "{symbol}");
        }
        assert_eq!(index.symbol("compozy.admin.v1.Nothing"), None);
        assert!(
            index.file("google/protobuf/timestamp.proto").is_some(),
            "imports are there too"
        );
        let services: Vec<_> = index.services().collect();
        for service in [
            "grpc.health.v1.Health",
            "grpc.reflection.v1.ServerReflection",
            "compozy.admin.v1.AdminService",
        ] {
            assert!(services.contains(&service), "{service}");
        }
    }
}
