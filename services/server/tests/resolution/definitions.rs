//! Texts of agents and skills, and the sizes of answers (cases section 12).

use std::fs;

use compozy_domain::limits;
use compozy_proto::workspace::v1 as pb;
use compozy_resolver::ContentHash;
use prost::Message as _;
use tonic::Code;

use crate::place::{agent, config, skill, write};
use crate::requests::{by_id, resolve};
use crate::world::World;

cases! {
    r223_an_edited_file_gives_no_other_text,
    a_text_is_that_of_the_one_who_asks,
    what_has_no_text_is_not_found,
    what_can_not_be_asked_for,
}

file_cases! {
    r222_two_thousand_skills,
    r222_two_thousand_skills_with_a_finding_each,
    more_findings_than_fit_are_counted,
    more_than_fits_is_refused,
}

fn definition(snapshot: &pb::Snapshot, kind: pb::DefinitionKind, name: &str) -> pb::GetDefinitionRequest {
    let row = snapshot.workspace.as_ref().unwrap();
    pb::GetDefinitionRequest {
        r#ref: by_id(&row.id),
        fingerprint: snapshot.fingerprint.clone(),
        kind: kind.into(),
        name: name.to_owned(),
        ..Default::default()
    }
}

fn hex(text: &str) -> String {
    let hash = ContentHash::of(text.as_bytes());
    hash.as_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
}

async fn r222_two_thousand_skills(world: World) {
    let root = world.mkdir("a");
    let base = format!("{root}/.compozy");
    for number in 0..2_000 {
        let text = format!("{number}\n{}", "Do it well.\n".repeat(853));
        skill(&base, &format!("skill-{number:04}"), &text);
    }
    let prompt = "You are the one.\n\n---\n\nStill you.\n";
    agent(&base, "one", prompt);
    let row = world.reg(&root).await;
    let answer = world.daemon.api.resolve(resolve(&row.id)).await.unwrap();
    let size = answer.encoded_len();
    eprintln!(
        "2,000 skills: {size} bytes of at most {}",
        limits::RESPONSE_BYTES_MAX
    );
    assert!(size < limits::RESPONSE_BYTES_MAX);
    let snapshot = answer.snapshot.unwrap();
    assert_eq!((snapshot.skills.len(), snapshot.truncated), (2_000, false));
    let api = &world.daemon.api;
    let wanted = definition(&snapshot, pb::DefinitionKind::Skill, "skill-1234");
    let found = api.get_definition(wanted).await.unwrap();
    assert_eq!(found.text, format!("1234\n{}", "Do it well.\n".repeat(853)));
    let listed = snapshot
        .skills
        .iter()
        .find(|skill| skill.name == "skill-1234")
        .unwrap();
    assert_eq!(
        (&found.digest, found.size),
        (&listed.text_digest, listed.text_size)
    );
    assert_eq!((&found.path, found.layer()), (&listed.path, pb::Layer::Workspace));
    assert_eq!(found.digest, hex(&found.text));
    let wanted = definition(&snapshot, pb::DefinitionKind::Agent, "one");
    let found = api.get_definition(wanted).await.unwrap();
    assert_eq!(
        (found.text.as_str(), &found.digest),
        (prompt, &snapshot.agents[0].prompt_digest)
    );
}

async fn r222_two_thousand_skills_with_a_finding_each(world: World) {
    let root = world.mkdir("a");
    for (base, length) in [("short", 300), ("long", 700)] {
        let description = "x".repeat(length);
        for number in 0..2_000 {
            write(
                format!("{root}/{base}/skill-{number:04}/SKILL.md"),
                format!("---\nname: skill-{number:04}\ndescription: Use when: {description}\n---\nDo it.\n"),
            );
        }
        config(&root, &format!("[skills]\ncustom_sources = [\"{base}\"]\n"));
        let row = world.reg(&root).await;
        let answer = world.daemon.api.resolve(resolve(&row.id)).await.unwrap();
        assert!(answer.encoded_len() <= limits::RESPONSE_BYTES_MAX);
        let snapshot = answer.snapshot.unwrap();
        assert_eq!(
            (snapshot.skills.len(), snapshot.diagnostics.len()),
            (2_000, 2_000)
        );
        for (skill, found) in snapshot.skills.iter().zip(&snapshot.diagnostics) {
            assert!(skill.usable);
            assert_eq!(skill.description, format!("Use when: {description}"));
            assert_eq!((&found.path, found.line, found.column), (&skill.path, 3, 14));
            assert_eq!(found.code, "front_matter_recovered");
            assert!(found.message.contains("`description`"), "{}", found.message);
        }
    }
}

async fn more_findings_than_fit_are_counted(world: World) {
    let root = world.mkdir("a");
    let keys: String = (0..20).map(|number| format!("unknown-{number}: x\n")).collect();
    for number in 0..1_000 {
        write(
            format!("{root}/.compozy/agents/a{number:03}/AGENT.md"),
            format!("---\nname: a{number:03}\n{keys}---\nYou are one.\n"),
        );
    }
    let row = world.reg(&root).await;
    write(format!("{root}/.compozy/agents/a500/AGENT.md"), "broken");
    for view in [pb::ResolveView::Basic, pb::ResolveView::Full] {
        let request = pb::ResolveWorkspaceRequest {
            view: view.into(),
            ..resolve(&row.id)
        };
        let answer = world.daemon.api.resolve(request).await.unwrap();
        assert!(answer.encoded_len() <= limits::RESPONSE_BYTES_MAX);
        let snapshot = answer.snapshot.unwrap();
        assert_eq!((snapshot.agent_count, snapshot.diagnostics.len()), (1_000, 2_001));
        let told = &snapshot.diagnostics[0];
        assert_eq!((told.code.as_str(), &told.path), ("more_findings", &root));
        assert!(told.message.starts_with("17981 "), "{}", told.message);
        assert!(
            snapshot
                .diagnostics
                .iter()
                .any(|found| found.severity() == pb::Severity::Error),
            "the worst stay"
        );
    }
}

async fn more_than_fits_is_refused(world: World) {
    let root = world.mkdir("a");
    let description = "\u{1f98a}".repeat(1_024);
    for number in 0..1_000 {
        let path = format!("{root}/.compozy/skills/{number}/SKILL.md");
        write(
            path,
            format!("---\nname: s{number}\ndescription: {description}\n---\nDo it.\n"),
        );
    }
    let row = world.reg(&root).await;
    let failure = world.daemon.api.resolve(resolve(&row.id)).await.unwrap_err();
    assert_eq!(
        (failure.code, failure.reason.as_str()),
        (Code::ResourceExhausted, "MESSAGE_TOO_LARGE")
    );
    assert!(failure.message.contains("BASIC"), "{failure:?}");
    assert_eq!(failure.metadata["limit"], limits::RESPONSE_BYTES_MAX.to_string());
    let basic = pb::ResolveWorkspaceRequest {
        view: pb::ResolveView::Basic.into(),
        ..resolve(&row.id)
    };
    assert_eq!(world.snapshot_of(basic).await.unwrap().skill_count, 1_000);
}

async fn r223_an_edited_file_gives_no_other_text(world: World) {
    let root = world.mkdir("a");
    let path = skill(&format!("{root}/.compozy"), "x", "Do it.\n");
    let row = world.reg(&root).await;
    let snapshot = world.resolved(&row.id).await;
    let wanted = || definition(&snapshot, pb::DefinitionKind::Skill, "x");
    assert_eq!(
        world.daemon.api.get_definition(wanted()).await.unwrap().text,
        "Do it.\n"
    );
    let old = fs::read_to_string(&path).unwrap();
    fs::write(&path, old.replace("Do it.", "Do no.")).unwrap();
    let stale = world.daemon.api.get_definition(wanted());
    world
        .refused(Code::FailedPrecondition, "FINGERPRINT_STALE", stale)
        .await;
    fs::remove_file(&path).unwrap();
    let stale = world.daemon.api.get_definition(wanted());
    world
        .refused(Code::FailedPrecondition, "FINGERPRINT_STALE", stale)
        .await;
    fs::write(&path, old).unwrap();
    assert_eq!(
        world.daemon.api.get_definition(wanted()).await.unwrap().text,
        "Do it.\n"
    );
}

async fn a_text_is_that_of_the_one_who_asks(world: World) {
    let root = world.mkdir("a");
    let base = format!("{root}/.compozy");
    agent(&base, "one", "You are the one.\n");
    skill(&base, "x", "For all.\n");
    skill(&format!("{base}/agents/one"), "x", "For the one.\n");
    let row = world.reg(&root).await;
    let whole = world.resolved(&row.id).await;
    let as_one = pb::ResolveWorkspaceRequest {
        agent: Some("one".to_owned()),
        ..resolve(&row.id)
    };
    let seen = world.snapshot_of(as_one).await.unwrap();
    let plain = definition(&whole, pb::DefinitionKind::Skill, "x");
    let own = pb::GetDefinitionRequest {
        agent: Some("one".to_owned()),
        ..definition(&seen, pb::DefinitionKind::Skill, "x")
    };
    let api = &world.daemon.api;
    assert_eq!(
        api.get_definition(plain.clone()).await.unwrap().text,
        "For all.\n"
    );
    let found = api.get_definition(own.clone()).await.unwrap();
    assert_eq!(
        (found.text.as_str(), found.layer()),
        ("For the one.\n", pb::Layer::AgentLocal)
    );
    // A fingerprint is that of its very request.
    let mixed = pb::GetDefinitionRequest {
        fingerprint: plain.fingerprint,
        ..own
    };
    assert_eq!(
        api.get_definition(mixed).await.unwrap_err().reason,
        "FINGERPRINT_STALE"
    );
}

async fn what_has_no_text_is_not_found(world: World) {
    let row = world.reg_new("a").await;
    let snapshot = world.resolved(&row.id).await;
    for kind in [pb::DefinitionKind::Agent, pb::DefinitionKind::Skill] {
        let call = world
            .daemon
            .api
            .get_definition(definition(&snapshot, kind, "nope"));
        let failure = world.refused(Code::NotFound, "DEFINITION_NOT_FOUND", call).await;
        assert!(
            failure.message.contains("nope") && failure.names_resource,
            "{failure:?}"
        );
    }
}

async fn what_can_not_be_asked_for(world: World) {
    let row = world.reg_new("a").await;
    let snapshot = world.resolved(&row.id).await;
    let whole = || definition(&snapshot, pb::DefinitionKind::Skill, "x");
    let refused = [
        pb::GetDefinitionRequest { kind: 0, ..whole() },
        pb::GetDefinitionRequest {
            name: String::new(),
            ..whole()
        },
        pb::GetDefinitionRequest {
            name: "a\u{0}".to_owned(),
            ..whole()
        },
        pb::GetDefinitionRequest {
            fingerprint: String::new(),
            ..whole()
        },
    ];
    for request in refused {
        let call = world.daemon.api.get_definition(request);
        world.refused(Code::InvalidArgument, "INVALID_FIELD", call).await;
    }
    let long = pb::GetDefinitionRequest {
        fingerprint: "f".repeat(1_000),
        ..whole()
    };
    let failure = world.daemon.api.get_definition(long).await.unwrap_err();
    assert_eq!(failure.reason, "FINGERPRINT_STALE");
}
