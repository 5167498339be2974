//! Many agents at once.

use compozy_domain::Severity;

use crate::support::{agent_in, error};

#[test]
fn r144_of_35_agents_none_is_missing() {
    let broken = [
        "---\nname: x\n\nNo end.\n",
        "# No front matter\n",
        "---\nname: x\nname: x\n---\nTwice.\n",
        "---\nname: x\ntools:\n\t- Tab\n---\nText.\n",
        "---\nname: x\npermissions: all\n---\nText.\n",
        "---\nname: x\n---\n",
    ];
    let mut agents = Vec::new();
    for number in 0..35 {
        let directory = format!("a{number:02}");
        let good = format!("---\nname: {directory}\ndescription: Use when: {number}\n---\nDo it.\n");
        let file = broken.get(number / 6).filter(|_| number % 6 == 0).copied();
        agents.push(agent_in(&directory, file.unwrap_or(&good)));
    }
    assert_eq!(agents.len(), 35);
    let (usable, others): (Vec<_>, Vec<_>) = agents.iter().partition(|agent| agent.usable);
    assert_eq!((usable.len(), others.len()), (29, 6));
    let mut codes = Vec::new();
    for agent in others {
        codes.push(error(&agent.diagnostics).0);
        assert!(agent.diagnostics.iter().all(|found| found.path == agent.path));
    }
    codes.sort_unstable();
    codes.dedup();
    assert_eq!(codes.len(), 6, "{codes:?}");
    assert!(
        usable
            .iter()
            .all(|agent| agent.diagnostics[0].severity == Severity::Warning)
    );
}
