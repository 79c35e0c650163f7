//! The provider's prompt cache, as far as it is documented: what each request would be billed.
//!
//! A prefix is written at every mark and can be read once the writer's answer has begun. A request reads the longest entry
//! at one of its marks, or up to 20 blocks before one. Each model has entries of its own; each use renews an entry; time
//! passes only when the test says so.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use serde_json::{Value, json};

use super::request::{Received, blocks};

/// How many blocks before a mark are looked at.
const LOOK_BACK: usize = 20;

/// Bytes of a token, roughly.
const BYTES_PER_TOKEN: usize = 4;

/// What a prefix that failed its check is answered with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mismatch {
    /// The thinking is left out and reported.
    #[default]
    Drop,
    /// The request is refused.
    Refuse,
}

/// See the module.
#[derive(Default)]
pub struct Simulator {
    now: Duration,
    mismatch: Mismatch,
    entries: HashMap<(String, u64), Entry>,
    /// By signature: the prefix that the thinking was made behind.
    thinking: HashMap<String, u64>,
}

struct Entry {
    tokens: u64,
    lifetime: Duration,
    expires: Duration,
}

/// What a request is billed, and what it will have written once its answer begins.
#[derive(Debug, Default)]
pub struct Bill {
    /// Input at full price.
    pub input: u64,
    /// Read.
    pub read: u64,
    /// Written for five minutes.
    pub written: u64,
    /// Written for an hour.
    pub written_hour: u64,
    /// Blocks of thinking that were left out: paths and reasons, as the provider writes them.
    pub transformations: Vec<Value>,
    writes: Vec<(String, u64, u64, Duration)>,
    /// The prefix that thinking of the answer is made behind.
    end: u64,
}

impl Bill {
    /// The figures in the provider's names.
    pub fn usage(&self, output: u64) -> Value {
        json!({
            "input_tokens": self.input,
            "cache_read_input_tokens": self.read,
            "cache_creation_input_tokens": self.written + self.written_hour,
            "cache_creation": {
                "ephemeral_5m_input_tokens": self.written,
                "ephemeral_1h_input_tokens": self.written_hour,
            },
            "output_tokens": output,
        })
    }
}

/// A block of the prompt, with all before it.
struct Place {
    prefix: u64,
    /// Tokens up to and with it.
    tokens: u64,
    mark: Option<Duration>,
}

impl Simulator {
    /// A cache that answers a failed check of thinking so.
    pub fn new(mismatch: Mismatch) -> Self {
        Self { mismatch, ..Self::default() }
    }

    /// Lets time pass.
    pub fn advance(&mut self, time: Duration) {
        self.now += time;
    }

    /// Reads the request as the provider would.
    ///
    /// # Errors
    /// Says why the provider would refuse it.
    pub fn bill(&mut self, request: &Received) -> Result<Bill, String> {
        let model = request.body["model"].as_str().unwrap_or_default().to_owned();
        let mut bill = Bill::default();
        let places = self.places(&request.body, &mut bill)?;
        bill.end = places.last().map_or(0, |place| place.prefix);
        let total = places.last().map_or(0, |place| place.tokens);
        let marks: Vec<usize> = (0..places.len()).filter(|at| places[*at].mark.is_some()).collect();
        let found = marks.iter().rev().find_map(|mark| {
            let looked_at = (mark.saturating_sub(LOOK_BACK)..=*mark).rev();
            looked_at.map(|at| &places[at]).find(|place| self.is_there(&model, place.prefix))
        });
        bill.read = found.map_or(0, |place| place.tokens);
        if let Some(place) = found {
            let now = self.now;
            let entry = self.entries.get_mut(&(model.clone(), place.prefix)).expect("it is there");
            entry.expires = now + entry.lifetime;
        }
        let minimum = minimum(&model);
        let mut written = bill.read;
        for place in marks.iter().map(|at| &places[*at]) {
            let lifetime = place.mark.expect("it has one");
            if place.tokens < minimum {
                continue;
            }
            if place.tokens > written {
                let more = place.tokens - written;
                if lifetime > FIVE_MINUTES {
                    bill.written_hour += more;
                } else {
                    bill.written += more;
                }
                written = place.tokens;
            }
            bill.writes.push((model.clone(), place.prefix, place.tokens, lifetime));
        }
        bill.input = total - written;
        Ok(bill)
    }

    /// The answer has begun: what was written can be read.
    pub fn begun(&mut self, bill: &Bill) {
        for (model, prefix, tokens, lifetime) in &bill.writes {
            let entry = Entry { tokens: *tokens, lifetime: *lifetime, expires: self.now + *lifetime };
            self.entries.insert((model.clone(), *prefix), entry);
        }
    }

    /// Thinking with that signature was made in answer to the request.
    pub fn thought(&mut self, bill: &Bill, signature: &str) {
        self.thinking.entry(signature.to_owned()).or_insert(bill.end);
    }

    /// How many tokens can be read at the moment, in all entries together.
    pub fn held(&self) -> u64 {
        self.entries.values().filter(|entry| entry.expires >= self.now).map(|entry| entry.tokens).sum()
    }

    fn is_there(&self, model: &str, prefix: u64) -> bool {
        let entry = self.entries.get(&(model.to_owned(), prefix));
        entry.is_some_and(|entry| entry.expires >= self.now)
    }

    fn places(&self, body: &Value, bill: &mut Bill) -> Result<Vec<Place>, String> {
        let mut chain = Chain { prefix: 0, bytes: 0, places: Vec::new() };
        for name in ["tools", "system"] {
            for part in body[name].as_array().into_iter().flatten() {
                chain.push(name, part)?;
            }
        }
        for (index, message) in body["messages"].as_array().into_iter().flatten().enumerate() {
            let role = message["role"].as_str().unwrap_or_default();
            let behind = chain.prefix;
            let mut is_broken = false;
            for (at, block) in blocks(message).into_iter().enumerate() {
                let signature = block["signature"].as_str().or(block["data"].as_str()).unwrap_or_default();
                is_broken |= self.thinking.get(signature).is_some_and(|known| *known != behind);
                if is_broken && matches!(block["type"].as_str(), Some("thinking" | "redacted_thinking")) {
                    let path = format!("messages.{index}.content.{at}");
                    if self.mismatch == Mismatch::Refuse {
                        return Err(format!("{path}: Invalid `signature` in `thinking` block"));
                    }
                    let reason = "prefix_binding_mismatch";
                    bill.transformations.push(json!({"type": "thinking_dropped", "path": path, "reason": reason}));
                    continue;
                }
                chain.push(role, block)?;
            }
        }
        Ok(chain.places)
    }
}

/// How long an entry lives that nobody uses, unless its mark says otherwise.
const FIVE_MINUTES: Duration = Duration::from_secs(5 * 60);

struct Chain {
    prefix: u64,
    bytes: usize,
    places: Vec<Place>,
}

impl Chain {
    fn push(&mut self, role: &str, part: &Value) -> Result<(), String> {
        let mut part = part.clone();
        let mark = part.as_object_mut().and_then(|fields| fields.remove("cache_control"));
        let mark = match mark {
            None => None,
            Some(mark) => Some(match mark["ttl"].as_str() {
                None | Some("5m") => FIVE_MINUTES,
                Some("1h") => Duration::from_secs(60 * 60),
                Some(other) => return Err(format!("no such lifetime: {other}")),
            }),
        };
        let text = part.to_string();
        let mut hasher = DefaultHasher::new();
        (self.prefix, role, &text).hash(&mut hasher);
        self.prefix = hasher.finish();
        self.bytes += text.len();
        let tokens = self.bytes.div_ceil(BYTES_PER_TOKEN) as u64;
        self.places.push(Place { prefix: self.prefix, tokens, mark });
        Ok(())
    }
}

/// Fewest tokens of an entry.
fn minimum(model: &str) -> u64 {
    if model.contains("large-minimum") { 4096 } else { 1024 }
}

#[cfg(test)]
mod tests {
    use hyper::HeaderMap;

    use super::*;

    fn request(model: &str, blocks: &[(usize, bool)]) -> Received {
        let block = |(at, (kilobytes, is_marked)): (usize, &(usize, bool))| {
            let mut block = json!({"type": "text", "text": format!("{at}{}", "x".repeat(kilobytes * 1024))});
            if *is_marked {
                block["cache_control"] = json!({"type": "ephemeral"});
            }
            block
        };
        let content: Vec<Value> = blocks.iter().enumerate().map(block).collect();
        let body = json!({"model": model, "messages": [{"role": "user", "content": content}]});
        Received { path: "/v1/messages".to_owned(), headers: HeaderMap::new(), raw: Vec::new(), body }
    }

    fn ask(simulator: &mut Simulator, request: &Received) -> Bill {
        let bill = simulator.bill(request).unwrap();
        simulator.begun(&bill);
        bill
    }

    #[test]
    fn what_was_written_is_read_once_the_answer_has_begun_and_by_the_same_model() {
        let mut simulator = Simulator::default();
        let same = request("m", &[(8, true), (1, false)]);
        let first = simulator.bill(&same).unwrap();
        assert!(first.read == 0 && first.written > 2_000 && first.input > 200, "{first:?}");
        assert_eq!(simulator.bill(&same).unwrap().read, 0);
        simulator.begun(&first);
        let second = ask(&mut simulator, &same);
        assert_eq!((second.read, second.written, second.input), (first.written, 0, first.input));
        assert_eq!(ask(&mut simulator, &request("other", &[(8, true), (1, false)])).read, 0);
    }

    #[test]
    fn an_entry_expires_unless_it_is_used() {
        let mut simulator = Simulator::default();
        let same = request("m", &[(8, true)]);
        ask(&mut simulator, &same);
        for _ in 0..3 {
            simulator.advance(Duration::from_secs(200));
            assert!(ask(&mut simulator, &same).read > 0);
        }
        simulator.advance(Duration::from_secs(301));
        assert_eq!(simulator.held(), 0);
        assert_eq!(ask(&mut simulator, &same).read, 0);
    }

    #[test]
    fn small_prefixes_are_not_written_and_the_look_back_ends() {
        let mut simulator = Simulator::default();
        assert_eq!(ask(&mut simulator, &request("m", &[(3, true)])).written, 0);
        assert_eq!(ask(&mut simulator, &request("m-large-minimum", &[(8, true)])).written, 0);
        let mut blocks = vec![(8, true)];
        ask(&mut simulator, &request("m", &blocks));
        blocks[0].1 = false;
        blocks.extend([(0, false); 19]);
        blocks.push((0, true));
        assert!(simulator.bill(&request("m", &blocks)).unwrap().read > 0);
        blocks.insert(1, (0, false));
        assert_eq!(simulator.bill(&request("m", &blocks)).unwrap().read, 0);
    }

    #[test]
    fn thinking_stays_behind_what_it_was_made_behind() {
        let with = |text: &str| {
            let content = json!([{"type": "thinking", "thinking": "", "signature": "s"}]);
            let mut request = request("m", &[]);
            request.body["messages"] = json!([
                {"role": "user", "content": [{"type": "text", "text": text}]},
                {"role": "assistant", "content": content},
            ]);
            request
        };
        for mismatch in [Mismatch::Drop, Mismatch::Refuse] {
            let mut simulator = Simulator::new(mismatch);
            let mut before = with("a");
            before.body["messages"].as_array_mut().unwrap().pop();
            let bill = ask(&mut simulator, &before);
            simulator.thought(&bill, "s");
            assert!(simulator.bill(&with("a")).unwrap().transformations.is_empty());
            let changed = simulator.bill(&with("b"));
            match mismatch {
                Mismatch::Drop => assert_eq!(changed.unwrap().transformations.len(), 1),
                Mismatch::Refuse => assert!(changed.unwrap_err().contains("Invalid `signature`")),
            }
        }
    }
}
