//! What models cost. Pure: whole numbers, no floating point, no files.
//!
//! The built-in list (`prices.json` beside this file) holds public list prices with their dates; a person's file of the same
//! form overrides it entry by entry. A model without a price costs an unknown amount, never nothing.

use offshoot_protocol::{LongerPrompts, Price, PriceList, PromptSize, Rates, Seller, Spending, Usage};
use serde_json::{Map, Value};

/// The list that the program comes with.
const BUILT_IN: &str = include_str!("prices.json");

/// The person's file, in their settings folder.
pub const FILE: &str = "prices.json";

/// Digits behind the point of a price per million tokens.
const DECIMALS: usize = 6;

/// The built-in prices, with the person's file's laid over them. Of a bad entry nothing is used, not even its built-in
/// price, since the person means another; a warning says so. `text` is the file's, `Err` says why it can't be read.
pub fn list(text: Result<Option<&str>, &str>, file: &str) -> PriceList {
    let mut all = PriceList { file: file.to_owned(), ..PriceList::default() };
    for (model, entry) in object(BUILT_IN).expect("a test reads it") {
        all.prices.push(price(&model, &entry).expect("a test reads it"));
    }
    let entries = match text {
        Ok(None) => Map::new(),
        Ok(Some(text)) => object(text).unwrap_or_else(|why| {
            all.warnings.push(format!("{file}: {why}; the built-in prices hold."));
            Map::new()
        }),
        Err(why) => {
            all.warnings.push(format!("{file}: {why}; the built-in prices hold."));
            Map::new()
        }
    };
    for (model, entry) in entries {
        all.prices.retain(|price| normal(&price.model) != normal(&model));
        match price(&model, &entry) {
            Ok(price) => all.prices.push(price),
            Err(why) => all.warnings.push(format!("{file}: the price of {model:?} is left out: {why}.")),
        }
    }
    all
}

/// What something came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Picodollars, as far as prices are known.
    pub picodollars: u64,
    /// Tokens whose price isn't known.
    pub unknown: u64,
    /// Tokens that cost nothing: of the demo, and of servers on this machine.
    pub free: u64,
}

impl std::ops::AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        self.picodollars = self.picodollars.saturating_add(other.picodollars);
        self.unknown += other.unknown;
        self.free += other.free;
    }
}

impl Cost {
    /// What these tokens came to.
    pub fn of(spending: &[Spending], list: &PriceList) -> Self {
        let mut sum = Self::default();
        for part in spending {
            let tokens = part.usage.prompt() + part.usage.output;
            let price = find(list, &part.model);
            sum += match (price, part.seller) {
                (_, Seller::Demo) | (None, Seller::ThisMachine) => Self { free: tokens, ..Self::default() },
                (price, _) => match price.and_then(|price| rates(price, part.size)) {
                    Some(rates) => Self { picodollars: money(&part.usage, &rates), ..Self::default() },
                    None => Self { unknown: tokens, ..Self::default() },
                },
            };
        }
        sum
    }
}

impl std::fmt::Display for Cost {
    /// `$0.0123`, `free`, `cost unknown`, or `$0.0123 and more` where a part isn't known. Nothing where nothing was used.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.picodollars, self.unknown, self.free) {
            (0, 0, 0) => Ok(()),
            (0, 0, _) => f.write_str("free"),
            (0, _, _) => f.write_str("cost unknown"),
            (amount, 0, _) => write!(f, "{}", Dollars(amount)),
            (amount, _, _) => write!(f, "{} and more", Dollars(amount)),
        }
    }
}

/// An amount in picodollars, as people read it: cents from ten dollars on, else hundredths of a cent, rounded up so that
/// something is never shown as nothing.
struct Dollars(u64);

impl std::fmt::Display for Dollars {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        const DOLLAR: u64 = 1_000_000_000_000;
        if self.0 >= 10 * DOLLAR {
            let cents = self.0.div_ceil(DOLLAR / 100);
            write!(f, "${}.{:02}", cents / 100, cents % 100)
        } else {
            let parts = self.0.div_ceil(DOLLAR / 10_000);
            write!(f, "${}.{:04}", parts / 10_000, parts % 10_000)
        }
    }
}

/// Of all input tokens those read from the cache, in tenths of a percent; nothing where there were none.
pub fn hit_rate(usage: &Usage) -> Option<u64> {
    (usage.prompt() > 0).then(|| usage.cache_read * 1000 / usage.prompt())
}

/// The rates of prompts of this size; nothing where they aren't listed.
fn rates(price: &Price, size: PromptSize) -> Option<Rates> {
    match price.longer {
        Some(longer) if size > longer.beyond => longer.rates,
        _ => Some(price.rates),
    }
}

/// A model's price: of its id, of its id without the name of a reseller before it, or without a date behind it.
pub fn find<'a>(list: &'a PriceList, model: &str) -> Option<&'a Price> {
    let named = |id: &str| list.prices.iter().find(|price| normal(&price.model) == normal(id));
    let bare = model.rsplit('/').next().unwrap_or(model);
    named(model).or_else(|| named(bare)).or_else(|| named(undated(bare)))
}

/// Resellers write versions with a point where the provider has a hyphen.
fn normal(id: &str) -> String {
    id.to_lowercase().replace('.', "-")
}

/// Without `-20260930`, `-2026-09-30` or `-latest`.
fn undated(id: &str) -> &str {
    if let Some(start) = id.strip_suffix("-latest") {
        return start;
    }
    let is_date = |date: &str| date.len() == 8 && date.bytes().all(|byte| byte.is_ascii_digit());
    for (length, separators) in [(9, 1), (11, 3)] {
        let Some((start, end)) = id.len().checked_sub(length).and_then(|at| id.split_at_checked(at)) else { continue };
        if end.starts_with('-') && end.matches('-').count() == separators && is_date(&end.replace('-', "")) {
            return start;
        }
    }
    id
}

fn money(usage: &Usage, rates: &Rates) -> u64 {
    let parts = [
        (usage.input, rates.input),
        (usage.cache_read, rates.cache_read),
        (usage.cache_write, rates.cache_write),
        (usage.output, rates.output),
    ];
    parts.into_iter().fold(0, |sum: u64, (tokens, rate)| sum.saturating_add(tokens.saturating_mul(rate)))
}

fn object(text: &str) -> Result<Map<String, Value>, String> {
    match serde_json::from_str(text.trim_start_matches('\u{feff}')) {
        Ok(Value::Object(entries)) => Ok(entries),
        Ok(_) => Err("it is no JSON object".to_owned()),
        Err(error) => Err(format!("it is no JSON: {error}")),
    }
}

const FIELDS: [&str; 8] =
    ["date", "source", "input", "cache_read", "cache_write", "cache_write_hour", "output", "longer"];

fn price(model: &str, entry: &Value) -> Result<Price, String> {
    let Value::Object(fields) = entry else { return Err("it is no object".to_owned()) };
    if let Some(unknown) = fields.keys().find(|name| !FIELDS.contains(&name.as_str())) {
        return Err(format!("there is no field {unknown:?}; there are {}", FIELDS.join(", ")));
    }
    let text = |name: &str| match fields.get(name) {
        None => Ok(String::new()),
        Some(Value::String(text)) => Ok(text.clone()),
        Some(_) => Err(format!("{name:?} is no text")),
    };
    let longer = match fields.get("longer") {
        None => None,
        Some(Value::Object(part)) => {
            let beyond = match part.get("beyond").and_then(Value::as_str) {
                Some("100k") => PromptSize::Upto100k,
                Some("200k") => PromptSize::Upto200k,
                Some("272k") => PromptSize::Upto272k,
                _ => return Err("\"beyond\" is none of \"100k\", \"200k\", \"272k\"".to_owned()),
            };
            let rates = if part.contains_key("input") { Some(all_rates(part)?) } else { None };
            Some(LongerPrompts { beyond, rates })
        }
        Some(_) => return Err("\"longer\" is no object".to_owned()),
    };
    let date = text("date")?;
    if !date.is_empty() && date.parse::<jiff::civil::Date>().is_err() {
        return Err(format!("{date:?} is no date of the form 2026-09-30"));
    }
    Ok(Price { model: model.to_owned(), date, source: text("source")?, rates: all_rates(fields)?, longer })
}

/// What isn't said of a cache is charged as input: it is never cheaper than it may be.
fn all_rates(fields: &Map<String, Value>) -> Result<Rates, String> {
    let rate = |name: &str| fields.get(name).map(|value| amount(name, value)).transpose();
    let needed = |name: &str| rate(name)?.ok_or_else(|| format!("{name:?} is missing"));
    let input = needed("input")?;
    let cache_write = rate("cache_write")?.unwrap_or(input);
    Ok(Rates {
        input,
        cache_read: rate("cache_read")?.unwrap_or(input),
        cache_write,
        cache_write_hour: rate("cache_write_hour")?.unwrap_or(cache_write),
        output: needed("output")?,
    })
}

/// Dollars per million tokens, as a number or as text, in picodollars per token.
fn amount(name: &str, value: &Value) -> Result<u64, String> {
    let text = match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        _ => String::new(),
    };
    let wrong = || format!("{name:?} is no amount such as 0.25, in dollars for a million tokens");
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let is_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || whole.len() > 6 || !is_digits(whole) || !is_digits(fraction) || fraction.len() > DECIMALS {
        return Err(wrong());
    }
    format!("{whole}{fraction:0<DECIMALS$}").parse().map_err(|_| wrong())
}

#[cfg(test)]
mod tests;
