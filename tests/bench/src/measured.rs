//! What a row holds.

use std::time::Duration;

use serde_json::{Value, json};

/// What a load showed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Measured {
    pub(crate) calls: u64,
    pub(crate) elapsed: Duration,
    pub(crate) median: Duration,
    pub(crate) p99: Duration,
    /// Of the measured process.
    pub(crate) cpu_per_call: Duration,
}

impl Measured {
    /// From the duration of each call.
    pub(crate) fn of(mut calls: Vec<Duration>, elapsed: Duration, busy: Duration) -> Self {
        assert!(!calls.is_empty(), "nothing was measured");
        calls.sort_unstable();
        let count = u32::try_from(calls.len()).unwrap();
        Self {
            calls: u64::from(count),
            elapsed,
            median: calls[calls.len() / 2],
            p99: calls[(calls.len() * 99 / 100).min(calls.len() - 1)],
            cpu_per_call: busy / count,
        }
    }

    pub(crate) fn rate(&self) -> f64 {
        self.calls as f64 / self.elapsed.as_secs_f64()
    }

    fn json(&self) -> Value {
        json!({
            "calls": self.calls,
            "rate_per_second": self.rate(),
            "median_us": micros(self.median),
            "p99_us": micros(self.p99),
            "server_cpu_us_per_call": micros(self.cpu_per_call),
        })
    }
}

/// One line of the table.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) engine: &'static str,
    /// Of a row that is a load.
    pub(crate) load: Option<Measured>,
    /// Of a row that is one figure, with its unit.
    pub(crate) figure: Option<(f64, &'static str)>,
    pub(crate) floor: Option<Floor>,
    /// Goal of quality.md, and whether it is met.
    pub(crate) goal: Option<(String, bool)>,
}

/// What the row is held against.
#[derive(Debug, Clone)]
pub(crate) struct Floor {
    pub(crate) name: String,
    pub(crate) value: f64,
    pub(crate) unit: &'static str,
    /// The row's own figure divided by the floor's.
    pub(crate) ratio: f64,
}

impl Row {
    pub(crate) fn of_load(name: impl Into<String>, engine: &'static str, load: Measured) -> Self {
        Self {
            name: name.into(),
            engine,
            load: Some(load),
            figure: None,
            floor: None,
            goal: None,
        }
    }

    pub(crate) fn of_figure(
        name: impl Into<String>,
        engine: &'static str,
        value: f64,
        unit: &'static str,
    ) -> Self {
        Self {
            name: name.into(),
            engine,
            load: None,
            figure: Some((value, unit)),
            floor: None,
            goal: None,
        }
    }

    /// Against another process's CPU for the same call.
    pub(crate) fn against_cpu(mut self, floor: impl Into<String>, cpu: Duration) -> Self {
        let own = self.load.unwrap().cpu_per_call;
        self.floor = Some(Floor {
            name: floor.into(),
            value: micros(cpu),
            unit: "us CPU",
            ratio: own.as_secs_f64() / cpu.as_secs_f64(),
        });
        self
    }

    /// Against another rate.
    pub(crate) fn against_rate(mut self, floor: impl Into<String>, rate: f64) -> Self {
        let own = self.load.unwrap().rate();
        self.floor = Some(Floor {
            name: floor.into(),
            value: rate,
            unit: "/s",
            ratio: own / rate,
        });
        self
    }

    /// Against the same figure of something else.
    pub(crate) fn against_figure(mut self, floor: impl Into<String>, value: f64) -> Self {
        let (own, unit) = self.figure.unwrap();
        self.floor = Some(Floor {
            name: floor.into(),
            value,
            unit,
            ratio: own / value,
        });
        self
    }

    /// The ratio must not be above `most`.
    pub(crate) fn at_most(mut self, most: f64) -> Self {
        let ratio = self.floor.as_ref().unwrap().ratio;
        self.goal = Some((format!("<= {most}x"), ratio <= most));
        self
    }

    /// The ratio must not be below `least`.
    pub(crate) fn at_least(mut self, least: f64) -> Self {
        let ratio = self.floor.as_ref().unwrap().ratio;
        self.goal = Some((format!(">= {least}x"), ratio >= least));
        self
    }

    /// The figure must not be above `most`.
    pub(crate) fn figure_at_most(mut self, most: f64) -> Self {
        let (value, unit) = self.figure.unwrap();
        self.goal = Some((format!("<= {most} {unit}"), value <= most));
        self
    }

    pub(crate) fn json(&self) -> Value {
        let floor = self.floor.as_ref().map(|floor| {
            json!({"name": floor.name, "value": floor.value, "unit": floor.unit, "ratio": floor.ratio})
        });
        json!({
            "row": self.name,
            "engine": self.engine,
            "load": self.load.map(|load| load.json()),
            "figure": self.figure.map(|(value, unit)| json!({"value": value, "unit": unit})),
            "floor": floor,
            "goal": self.goal.as_ref().map(|(goal, met)| json!({"goal": goal, "met": met})),
        })
    }
}

pub(crate) fn micros(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e6
}
