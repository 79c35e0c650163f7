//! Figures beside their limits, as a table and as JSON.

use serde::Serialize;

/// All figures of a run.
#[derive(Default)]
pub(crate) struct Report {
    section: &'static str,
    figures: Vec<Figure>,
}

/// One figure.
#[derive(Serialize)]
struct Figure {
    section: &'static str,
    name: String,
    /// Absent when it could not be measured.
    #[serde(rename = "figure", skip_serializing_if = "Option::is_none")]
    measured: Option<f64>,
    unit: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<Limit>,
    /// Whether it keeps within the limit; absent without one, or without a figure.
    #[serde(skip_serializing_if = "Option::is_none")]
    met: Option<bool>,
    /// Why there is no figure.
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<String>,
}

/// What a figure is held to.
#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
enum Limit {
    AtMost(f64),
    AtLeast(f64),
}

impl Limit {
    fn is_met_by(self, figure: f64) -> bool {
        match self {
            Self::AtMost(limit) => figure <= limit,
            Self::AtLeast(limit) => figure >= limit,
        }
    }
}

impl Report {
    /// Begins a section; what follows belongs to it.
    pub(crate) fn begin(&mut self, name: &'static str, about: &str) {
        self.section = name;
        println!("\n{name}: {about}");
    }

    /// A figure that is to be at most `limit`.
    pub(crate) fn at_most(&mut self, name: impl Into<String>, figure: f64, unit: &'static str, limit: f64) {
        self.add(name.into(), Ok(figure), unit, Some(Limit::AtMost(limit)));
    }

    /// A figure that is to be at most `limit`, where it has one.
    pub(crate) fn within(&mut self, name: impl Into<String>, figure: f64, unit: &'static str, limit: Option<f64>) {
        self.add(name.into(), Ok(figure), unit, limit.map(Limit::AtMost));
    }

    /// A figure that is to be at least `limit`.
    pub(crate) fn at_least(&mut self, name: impl Into<String>, figure: f64, unit: &'static str, limit: f64) {
        self.add(name.into(), Ok(figure), unit, Some(Limit::AtLeast(limit)));
    }

    /// A figure without a limit of its own: what others are compared with, or what explains them.
    pub(crate) fn note(&mut self, name: impl Into<String>, figure: f64, unit: &'static str) {
        self.add(name.into(), Ok(figure), unit, None);
    }

    /// A figure that this machine can't give.
    pub(crate) fn missing(&mut self, name: impl Into<String>, why: impl Into<String>) {
        self.add(name.into(), Err(why.into()), "", None);
    }

    fn add(&mut self, name: String, figure: Result<f64, String>, unit: &'static str, limit: Option<Limit>) {
        let met = limit.zip(figure.as_ref().ok()).map(|(limit, figure)| limit.is_met_by(*figure));
        let held_to = match limit {
            Some(Limit::AtMost(limit)) => format!("≤ {} {unit}", short(limit)),
            Some(Limit::AtLeast(limit)) => format!("≥ {} {unit}", short(limit)),
            None => String::new(),
        };
        let word = match met {
            Some(true) => "met",
            Some(false) => "MISSED",
            None => "",
        };
        match &figure {
            Ok(figure) => {
                let shown = format!("{} {unit}", short(*figure));
                println!("  {}  {shown:>14}  {held_to:<16} {word}", wide(&name, 66));
            }
            Err(why) => println!("  {}  not measured: {why}", wide(&name, 66)),
        }
        let (measured, missing) = match figure {
            Ok(figure) => (Some(figure), None),
            Err(why) => (None, Some(why)),
        };
        self.figures.push(Figure { section: self.section, name, measured, unit, limit, met, missing });
    }

    /// Says how many goals were met.
    pub(crate) fn conclude(&self) {
        let goals = self.figures.iter().filter_map(|figure| figure.met);
        let (met, all) = goals.fold((0, 0), |(met, all), is_met| (met + usize::from(is_met), all + 1));
        println!("\n{met} of {all} goals met.");
    }

    /// The same as JSON.
    pub(crate) fn json(&self) -> String {
        let machine = serde_json::json!({
            "os": std::env::consts::OS,
            "architecture": std::env::consts::ARCH,
            "cores": std::thread::available_parallelism().map_or(1, usize::from),
        });
        let whole = serde_json::json!({"machine": machine, "figures": self.figures});
        serde_json::to_string_pretty(&whole).expect("figures are plain")
    }
}

/// Three significant digits, without a tail of zeros.
fn short(figure: f64) -> String {
    if figure == 0.0 {
        return "0".to_owned();
    }
    let digits = (2.0 - figure.abs().log10().floor()).clamp(0.0, 6.0);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it was clamped to 0..=6")]
    let text = format!("{figure:.*}", digits as usize);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Filled up to a width in characters.
fn wide(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(text.chars().count())))
}
