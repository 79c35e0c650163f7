//! Calls that begin while the message that makes them is still on its way.

use std::future::poll_fn;
use std::task::Poll;

use futures_util::FutureExt as _;
use futures_util::future::{MaybeDone, maybe_done};
use offshoot_protocol::{Block, CallId};
use serde_json::Value;

use super::Worker;
use super::call::{Answering, answer};

/// Dropping it drops the calls, and with them what they wait for.
#[derive(Default)]
pub(super) struct Begun<'w>(Vec<(CallId, MaybeDone<Answering<'w>>)>);

impl<'w> Begun<'w> {
    /// Begins the call that is complete now, if it is one that needs neither the rest of the message nor, as far as this can
    /// be known, what the calls before it change.
    pub(super) fn begin(&mut self, worker: &'w Worker, before: &[Block], block: &Block) {
        let Block::Call { id, name, input } = block else { return };
        let toolbox = &worker.powers.toolbox;
        let value: Value = serde_json::from_str(&input.0).unwrap_or_default();
        let is_early = !id.0.is_empty() && toolbox.get(name).is_some_and(|tool| tool.is_early(&value));
        let waits = |block: &Block| match block {
            Block::Call { name, .. } => toolbox.get(name).is_some_and(|tool| !tool.is_parallel()),
            _ => false,
        };
        if is_early && !before.iter().any(waits) {
            self.0.push((id.clone(), maybe_done(answer(worker, id.clone(), name.clone(), input.clone()))));
        }
    }

    /// Lets the calls go on. Never ends by itself.
    pub(super) async fn go_on(&mut self) -> std::convert::Infallible {
        poll_fn(|context| {
            for (_, call) in &mut self.0 {
                // Done or not: what came out is taken later.
                let _ = call.poll_unpin(context);
            }
            Poll::Pending
        })
        .await
    }

    /// The call, to be waited for.
    pub(super) fn take(&mut self, id: &CallId) -> Option<MaybeDone<Answering<'w>>> {
        let at = self.0.iter().position(|(begun, _)| begun == id)?;
        Some(self.0.swap_remove(at).1)
    }

    /// Undoes the calls that `is_void` names: their message never came about, and the model will make others.
    pub(super) fn revoke(&mut self, worker: &Worker, is_void: impl Fn(&CallId) -> bool) {
        let void: Vec<CallId> = self.0.extract_if(.., |(id, _)| is_void(id)).map(|(id, _)| id).collect();
        if !void.is_empty() {
            worker.powers.delegate.revoke(&worker.id, &void);
        }
    }
}
