//! The report as Markdown.

use std::collections::BTreeMap;
use std::time::Duration;

use compozy_domain::{Diagnostic, Severity};

use crate::repository::Report;

/// Prints everything.
pub(crate) fn print(reports: &[Report]) {
    print_counts(reports);
    print_times(reports);
    print_broken_by_code(reports);
    print_findings(reports);
    print_broken(reports);
}

fn print_counts(reports: &[Report]) {
    println!("## Files\n");
    println!(
        "| repository | on disk | in reach | in the answer | missing | shadowed | usable | recovered | broken | repeated |"
    );
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    let mut all = [0; 9];
    for report in reports {
        let counts = counts(report);
        println!("| {} | {} |", report.name, cells(counts));
        for (sum, count) in all.iter_mut().zip(counts) {
            *sum += count;
        }
    }
    println!("| **all** | {} |", cells(all));
}

fn counts(report: &Report) -> [usize; 9] {
    [
        report.files,
        report.in_reach,
        report.in_answer,
        report.missing.len(),
        report.shadowed,
        report.usable,
        report.recovered,
        report.broken.len(),
        report.repeated,
    ]
}

fn cells(counts: [usize; 9]) -> String {
    counts.map(|count| count.to_string()).join(" | ")
}

fn print_times(reports: &[Report]) {
    println!("\n## Time\n");
    println!("| repository | watched paths | cold | bare reads | ratio | warm | bare stats | ratio |");
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    for report in reports {
        let times = &report.times;
        println!(
            "| {} | {} | {} | {} | {} | {} | {} | {} |",
            report.name,
            times.watched,
            shown(times.cold),
            shown(times.bare_reads),
            ratio(times.cold, times.bare_reads),
            shown(times.warm),
            shown(times.bare_stats),
            ratio(times.warm, times.bare_stats),
        );
    }
}

fn print_broken_by_code(reports: &[Report]) {
    let mut codes: BTreeMap<&str, usize> = BTreeMap::new();
    for diagnostic in reports.iter().flat_map(|report| report.broken.values().flatten()) {
        *codes.entry(diagnostic.code).or_default() += 1;
    }
    println!("\n## Errors of broken files\n\n| code | count |\n| --- | ---: |");
    for (code, count) in codes {
        println!("| {code} | {count} |");
    }
}

fn print_findings(reports: &[Report]) {
    let mut findings: BTreeMap<(Severity, &str), usize> = BTreeMap::new();
    for report in reports {
        for (key, count) in &report.findings {
            *findings.entry(*key).or_default() += count;
        }
    }
    println!(
        "\n## Diagnostics of the whole repositories\n\n| code | severity | count |\n| --- | --- | ---: |"
    );
    for ((severity, code), count) in findings.into_iter().rev() {
        println!("| {code} | {} | {count} |", severity.as_str());
    }
}

fn print_broken(reports: &[Report]) {
    println!("\n## Broken files\n\n| file | line:column | code | reason |\n| --- | --- | --- | --- |");
    for report in reports {
        for (path, diagnostics) in &report.broken {
            for diagnostic in diagnostics {
                let (place, Diagnostic { code, message, .. }) = (place(diagnostic), diagnostic);
                println!("| {}/{path} | {place} | {code} | {message} |", report.name);
            }
        }
        for path in &report.missing {
            println!("| {}/{path} | | | **in no answer** |", report.name);
        }
    }
}

fn place(diagnostic: &Diagnostic) -> String {
    match (diagnostic.line, diagnostic.column) {
        (Some(line), Some(column)) => format!("{line}:{column}"),
        (Some(line), None) => line.to_string(),
        _ => String::new(),
    }
}

fn shown(span: Duration) -> String {
    format!("{:.2} ms", span.as_secs_f64() * 1000.0)
}

fn ratio(span: Duration, bare: Duration) -> String {
    format!("{:.2}", span.as_secs_f64() / bare.as_secs_f64().max(f64::EPSILON))
}
