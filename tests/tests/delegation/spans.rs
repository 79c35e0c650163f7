//! Logs can be told apart by agent.

use std::collections::HashMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use offshoot_tests::{Gate, World, in_fork, in_root};
use serde_json::json;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// Keeps every span with its fields and the span it was opened in. For one thread.
#[derive(Clone, Default)]
struct Spans(Arc<Mutex<Kept>>);

#[derive(Default)]
struct Kept {
    all: Vec<Kind>,
    entered: Vec<u64>,
}

struct Kind {
    name: &'static str,
    fields: HashMap<&'static str, String>,
    parent: Option<u64>,
}

impl Visit for Kind {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.fields.insert(field.name(), format!("{value:?}").trim_matches('"').to_owned());
    }
}

impl Subscriber for Spans {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_span() && metadata.target().starts_with("offshoot")
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        let mut kept = self.0.lock().unwrap();
        let parent = kept.entered.last().copied();
        let mut span = Kind { name: attributes.metadata().name(), fields: HashMap::new(), parent };
        attributes.record(&mut span);
        kept.all.push(span);
        Id::from_u64(kept.all.len() as u64)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {}

    fn enter(&self, span: &Id) {
        self.0.lock().unwrap().entered.push(span.into_u64());
    }

    fn exit(&self, span: &Id) {
        let mut kept = self.0.lock().unwrap();
        let at = kept.entered.iter().rposition(|entered| *entered == span.into_u64());
        kept.entered.remove(at.unwrap());
    }
}

impl Kept {
    /// The turn that a span belongs to.
    fn turn_of<'a>(&'a self, span: &'a Kind) -> &'a Kind {
        let mut at = span;
        while at.name != "turn" {
            at = &self.all[usize::try_from(at.parent.expect("steps and calls are in a turn")).unwrap() - 1];
        }
        at
    }
}

#[tokio::test]
async fn spans_of_two_agents_can_be_told_apart() {
    let spans = Spans::default();
    // While there is only one listener, a place that another thread reaches first would count as heard by nobody.
    let _second = tracing::Dispatch::new(Spans::default());
    let _listening = tracing::subscriber::set_default(spans.clone());
    let gate = Gate::new();
    let world = World::new([
        in_root()
            .when_told("both")
            .call("Agent", json!({"prompt": "one", "description": "first"}))
            .call("Agent", json!({"prompt": "two", "description": "second"})),
        in_root().when_result("async_launched").text("Waiting."),
        // At the same time: each waits until the other is there.
        in_fork("one").when_told("one").gate(&gate).call("Read", json!({"file_path": "README.md"})),
        in_fork("one").when_result("hello").text("Scope: one"),
        in_fork("two").when_told("two").gate(&gate).call("Glob", json!({"pattern": "*"})),
        in_fork("two").when_result("README").text("Scope: two"),
        in_root().when_told("<task-notification>").repeated().text("Noted."),
    ])
    .await;
    world.say("both").await;
    world.server.request_where(|request| request.last_text().contains("one")).await;
    world.server.request_where(|request| request.last_text().contains("two")).await;
    gate.open();
    world.until("both are done", |view| view.agents[1..].iter().all(|fork| fork.outcome.is_some())).await;
    world.settled().await;

    let first = world.agent("first").await;
    let second = world.agent("second").await;
    let kept = spans.0.lock().unwrap();
    for (view, tool, steps) in [(&first, "Read", 2), (&second, "Glob", 2)] {
        let title = view.title.as_str();
        let call = kept.all.iter().find(|span| span.fields.get("tool").is_some_and(|found| found == tool)).unwrap();
        assert_eq!(call.name, "call");
        let turn = &kept.turn_of(call).fields;
        let root = world.root.as_str();
        let wanted =
            [("agent_id", view.id.as_str()), ("agent_kind", "fork"), ("agent_name", title), ("parent_id", root)];
        for (field, value) in wanted {
            assert_eq!(turn[field], value, "{title}");
        }
        let is_its = |span: &&Kind| span.name == "step" && kept.turn_of(span).fields["agent_id"] == view.id.as_str();
        assert_eq!(kept.all.iter().filter(is_its).count(), steps);
    }
    let root = kept.all.iter().find(|span| span.fields.get("agent_kind").is_some_and(|kind| kind == "root")).unwrap();
    assert!(!root.fields.contains_key("parent_id"));
    world.server.finish();
}
