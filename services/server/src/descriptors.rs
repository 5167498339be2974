//! The descriptors of everything that is served: the contract, and the standard services beside it.

use prost::Message as _;
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{
    DescriptorProto, FieldDescriptorProto, FileDescriptorSet, MessageOptions, MethodDescriptorProto,
};

use crate::failure::{Failure, FailureKind};

/// The contract of event logs and ledgers is settled before anybody serves it: nobody is told that it is there.
const NOT_SERVED: &str = "compozy/session/v1/session_event_service.proto";

/// Every file of what is served, each once.
///
/// # Errors
/// When a built-in descriptor does not parse, which would be a defect of the build.
pub fn all() -> Result<FileDescriptorSet, Failure> {
    let mut all = FileDescriptorSet::default();
    for encoded in [
        compozy_proto::FILE_DESCRIPTOR_SET,
        tonic_health::pb::FILE_DESCRIPTOR_SET,
        tonic_reflection::pb::v1::FILE_DESCRIPTOR_SET,
        tonic_reflection::pb::v1alpha::FILE_DESCRIPTOR_SET,
        // So that a foreign client can show the details of an error.
        tonic_types::pb::FILE_DESCRIPTOR_SET,
    ] {
        let set = FileDescriptorSet::decode(encoded).map_err(|error| {
            Failure::new(
                FailureKind::Internal,
                format!("a built-in descriptor does not parse: {error}"),
            )
        })?;
        for file in set.file {
            if file.name() != NOT_SERVED && all.file.iter().all(|known| known.name() != file.name()) {
                all.file.push(file);
            }
        }
    }
    add_health_list(&mut all);
    Ok(all)
}

/// The protocol's later `Health.List`, which the library's descriptor does not have yet.
fn add_health_list(all: &mut FileDescriptorSet) {
    let health = all
        .file
        .iter_mut()
        .find(|file| file.package() == "grpc.health.v1");
    let Some(file) = health else { return };
    let Some(service) = file.service.first_mut() else {
        return;
    };
    if service.method.iter().any(|method| method.name() == "List") {
        return;
    }
    service.method.push(MethodDescriptorProto {
        name: Some("List".to_owned()),
        input_type: Some(".grpc.health.v1.HealthListRequest".to_owned()),
        output_type: Some(".grpc.health.v1.HealthListResponse".to_owned()),
        ..MethodDescriptorProto::default()
    });
    let entry = DescriptorProto {
        name: Some("StatusesEntry".to_owned()),
        field: vec![
            field("key", 1, Label::Optional, None),
            field(
                "value",
                2,
                Label::Optional,
                Some(".grpc.health.v1.HealthCheckResponse"),
            ),
        ],
        options: Some(MessageOptions {
            map_entry: Some(true),
            ..MessageOptions::default()
        }),
        ..DescriptorProto::default()
    };
    let statuses = ".grpc.health.v1.HealthListResponse.StatusesEntry";
    file.message_type.push(DescriptorProto {
        name: Some("HealthListRequest".to_owned()),
        ..DescriptorProto::default()
    });
    file.message_type.push(DescriptorProto {
        name: Some("HealthListResponse".to_owned()),
        field: vec![field("statuses", 1, Label::Repeated, Some(statuses))],
        nested_type: vec![entry],
        ..DescriptorProto::default()
    });
}

/// A field of a message type, or a text.
fn field(name: &str, number: i32, label: Label, message: Option<&str>) -> FieldDescriptorProto {
    let kind = if message.is_some() {
        Type::Message
    } else {
        Type::String
    };
    FieldDescriptorProto {
        name: Some(name.to_owned()),
        number: Some(number),
        label: Some(label.into()),
        r#type: Some(kind.into()),
        type_name: message.map(str::to_owned),
        json_name: Some(name.to_owned()),
        ..FieldDescriptorProto::default()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use crate::methods::Methods;

    #[test]
    fn methods_are_known_by_path() {
        let methods = Methods::of(&super::all().unwrap());
        let info = methods.find("/compozy.admin.v1.AdminService/GetServerInfo");
        assert_eq!(&*info.name, "compozy.admin.v1.AdminService/GetServerInfo");
        assert!(!info.streaming && !info.open);
        let watch = methods.find("/grpc.health.v1.Health/Watch");
        assert!(watch.streaming && watch.open);
        assert!(methods.find("/grpc.health.v1.Health/List").open);
        assert!(
            !methods
                .find("/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo")
                .open
        );
        for path in [
            "",
            "/",
            "/x/y",
            "/grpc.health.v1.Health/Nothing",
            "/grpc.health.v1.Health/Check/",
        ] {
            let other = methods.find(path);
            assert!(&*other.name == "_OTHER" && !other.open, "{path}");
        }
    }
}
