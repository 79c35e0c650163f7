//! What a person thinks of an agent's changes: marks, rejections and comments on record, and carried out.
//!
//! A rejection is on record before anything is taken out, so that a crash in between is found and finished. It is carried
//! out when nobody works in the agent's worktree: at once, or at the end of the turn.

use offshoot_protocol::{
    AgentId, AgentView, Comment, EventBody, Hunk, InputId, LineKind, Mark, MergeId, Origin, Passage, Rejected,
    RejectedCode, Rejection, RejectionState, ReviewFact, ReviewWish,
};

use super::Tree;
use super::comments;
use crate::agent::is_running;
use crate::merge::{MergeError, TakenOut};
use crate::prompt;
use crate::view::Fold;

/// Most hashes that one wish marks.
const MARKED_AT_ONCE: usize = 20_000;

/// Longest hash or id that is taken from a window.
const LONGEST_NAME: usize = 128;

/// Most lines of a rejected change that the agent is shown.
const SHOWN_LINES: usize = 60;

impl Tree {
    /// Carries out a wish about the review of an agent's changes. On record when this returns.
    pub async fn review(&self, agent: &AgentId, wish: ReviewWish) -> Result<(), Rejected> {
        match wish {
            ReviewWish::Mark { hashes, mark, on } => self.mark(agent, hashes, mark, on).await,
            ReviewWish::Reject { path, hash } => self.reject(agent, path, hash).await,
            ReviewWish::Unreject { merge } => self.unreject(agent, &merge).await,
            ReviewWish::Comment { passage, text } => self.comment(agent, passage, text).await,
            ReviewWish::EditComment { comment, text } => self.edit_comment(agent, &comment, text).await,
            ReviewWish::SendComments => self.send_comments(agent).await,
        }
    }

    async fn mark(&self, agent: &AgentId, hashes: Vec<String>, mark: Mark, on: bool) -> Result<(), Rejected> {
        let is_hash = |hash: &String| !hash.is_empty() && hash.len() <= LONGEST_NAME;
        if hashes.is_empty() || hashes.len() > MARKED_AT_ONCE || !hashes.iter().all(is_hash) {
            return Err(Rejected::new(RejectedCode::Invalid, "These are not hashes of changes.", ""));
        }
        self.reviewed(agent, |_| Ok(vec![ReviewFact::Marked { hashes, mark, on }])).await
    }

    async fn reject(&self, agent: &AgentId, path: String, hash: String) -> Result<(), Rejected> {
        let diff = self.file_diff(agent, &path, true).await?;
        if diff.file.hash.0 != hash && !diff.hunks.iter().any(|hunk| hunk.hash == hash) {
            let message = format!("This change of {path} is not there any more; nothing was taken out.");
            return Err(Rejected::new(RejectedCode::Gone, message, "Look at the file again."));
        }
        let merge = self.means.kit.merges.next_id();
        let rejection = Rejection { merge: merge.clone(), path, hash, state: RejectionState::Queued };
        self.reviewed(agent, |view| {
            let waits = |other: &&Rejection| other.hash == rejection.hash && other.state == RejectionState::Queued;
            if view.review.rejections.iter().find(waits).is_some() {
                let message = "This change is already to be taken out.";
                return Err(Rejected::new(RejectedCode::NotApplicable, message, ""));
            }
            Ok(vec![ReviewFact::Rejected { rejection }])
        })
        .await?;
        self.carry_out_rejections(agent, None).await;
        // Nobody else sees a refusal as soon as whoever wished for it.
        let refused = self.view(agent, |view| {
            let mine = view.review.rejections.iter().find(|rejection| rejection.merge == merge);
            mine.and_then(|mine| match &mine.state {
                RejectionState::Refused { reason } => Some(reason.clone()),
                RejectionState::Queued | RejectionState::Done => None,
            })
        })?;
        match refused {
            Some(reason) => Err(Rejected::new(RejectedCode::Failed, reason, "Nothing was taken out.")),
            None => Ok(()),
        }
    }

    async fn unreject(&self, agent: &AgentId, merge: &MergeId) -> Result<(), Rejected> {
        let withdrawn = || vec![ReviewFact::RejectionWithdrawn { merge: merge.clone() }];
        let state = |view: &AgentView| {
            let mine = view.review.rejections.iter().find(|rejection| rejection.merge == *merge);
            mine.map(|mine| mine.state.clone())
        };
        let gone = || Rejected::new(RejectedCode::Gone, "This rejection was taken back already.", "");
        // Looked at and withdrawn under one lock: it may be carried out at this moment.
        let waits = self.reviewed(agent, |view| match state(view) {
            Some(RejectionState::Queued) if !self.means.kit.merges.is_out(merge) => Ok(withdrawn()),
            Some(RejectionState::Refused { .. }) => Ok(withdrawn()),
            Some(RejectionState::Queued | RejectionState::Done) => Ok(Vec::new()),
            None => Err(gone()),
        });
        waits.await?;
        if self.view(agent, |view| state(view))?.is_none() {
            return Ok(());
        }
        if self.journal.read(|fold| is_worked_in(fold, agent, None)) {
            let message = "An agent is at work in this worktree.";
            let hint = "The change can be put back at the end of its turn.";
            return Err(Rejected::new(RejectedCode::NotApplicable, message, hint));
        }
        let worktree = self.live_worktree(agent)?;
        let id = merge.clone();
        let files = self.merging(move |merges| merges.put_back(&id, &worktree)).await?;
        let text = format!(
            "The developer took a rejection back: your change of {} is in your directory again. Read it again before you edit it.",
            super::merging::named(&files)
        );
        let input = self.reminder(&text);
        self.record_reviewed(agent, withdrawn(), vec![EventBody::InputReceived { input }]).await?;
        self.count_again(agent).await;
        Ok(())
    }

    async fn comment(&self, agent: &AgentId, passage: Passage, text: String) -> Result<(), Rejected> {
        comments::check(&passage, &text)?;
        let id = self.means.kit.ids.next("c-");
        self.reviewed(agent, |view| {
            let Some(worktree) = &view.worktree else {
                let message = "The agent has no worktree of its own.";
                return Err(Rejected::new(RejectedCode::NotApplicable, message, "Send it a message instead."));
            };
            let text = text.trim().to_owned();
            let comment = Comment { id, passage, base: worktree.base.clone(), text, sent: None };
            Ok(vec![ReviewFact::Commented { comment }])
        })
        .await
    }

    async fn edit_comment(&self, agent: &AgentId, comment: &str, text: String) -> Result<(), Rejected> {
        let text = text.trim().to_owned();
        comments::check_length(&text)?;
        self.reviewed(agent, |view| {
            let found = view.review.comments.iter().find(|other| other.id == comment);
            match found {
                Some(found) if found.sent.is_none() => {
                    Ok(vec![ReviewFact::CommentEdited { comment: comment.to_owned(), text }])
                }
                Some(_) => Err(Rejected::new(RejectedCode::Gone, "This comment was sent already.", "Add another one.")),
                None => Err(Rejected::new(RejectedCode::NotFound, "There is no such comment.", "")),
            }
        })
        .await
    }

    async fn send_comments(&self, agent: &AgentId) -> Result<(), Rejected> {
        self.give_with(agent, Origin::User, |view, input: &InputId| {
            let unsent: Vec<&Comment> = view.review.comments.iter().filter(|comment| comment.sent.is_none()).collect();
            if unsent.is_empty() {
                let message = "There is no comment that was not sent yet.";
                return Err(Rejected::new(RejectedCode::NotApplicable, message, ""));
            }
            let text = comments::message(&unsent);
            let sent = unsent.iter().map(|comment| comment.id.clone()).collect();
            let fact = ReviewFact::CommentsSent { comments: sent, input: input.clone() };
            Ok((text, vec![EventBody::Reviewed { fact }]))
        })
        .await
    }

    /// Takes out what was rejected and waits, of an agent in whose worktree nobody works. `ending` is at its end: it works no
    /// more. What can't be taken out is refused, on record.
    pub(super) async fn carry_out_rejections(&self, agent: &AgentId, ending: Option<&AgentId>) {
        let waiting: Vec<Rejection> = self.journal.read(|fold| {
            let view = fold.agent(agent).filter(|_| !is_worked_in(fold, agent, ending));
            let all = view.into_iter().flat_map(|view| &view.review.rejections);
            all.filter(|rejection| rejection.state == RejectionState::Queued).cloned().collect()
        });
        let any = !waiting.is_empty();
        for rejection in waiting {
            if let Err(error) = self.carry_out(agent, &rejection).await {
                tracing::error!(%agent, %error, "a rejection could not be recorded");
            }
        }
        if any {
            self.count_again(agent).await;
        }
    }

    /// At the end of an agent's run: what was rejected in its worktree, or in the one of an ancestor that it worked in.
    pub(super) async fn carry_out_rejections_at_end(&self, id: &AgentId) {
        let owner = self.journal.read(|fold| {
            let directory = fold.agent(id).map(|agent| agent.directory.clone())?;
            let mut at = fold.agent(id);
            while let Some(agent) = at {
                if agent.worktree.is_some() {
                    return (agent.directory == directory).then(|| agent.id.clone());
                }
                at = agent.parent.as_ref().and_then(|parent| fold.agent(parent));
            }
            None
        });
        if let Some(owner) = owner {
            self.carry_out_rejections(&owner, Some(id)).await;
        }
    }

    /// After a restart: nobody works, so that everything that waits is due.
    pub(super) async fn carry_out_all_rejections(&self) {
        let with: Vec<AgentId> = self.journal.read(|fold| {
            let waits = |agent: &&AgentView| {
                agent.review.rejections.iter().any(|rejection| rejection.state == RejectionState::Queued)
            };
            fold.view.agents.iter().filter(waits).map(|agent| agent.id.clone()).collect()
        });
        for agent in with {
            self.carry_out_rejections(&agent, None).await;
        }
    }

    async fn carry_out(&self, agent: &AgentId, rejection: &Rejection) -> Result<(), Rejected> {
        let done = match self.live_worktree(agent) {
            Ok(worktree) => {
                let Rejection { merge, path, hash, .. } = rejection.clone();
                self.merging(move |merges| {
                    let taken = merges.take_out(&merge, &worktree, &path, &hash)?;
                    taken.ok_or_else(|| MergeError::Changed(vec![path]))
                })
                .await
            }
            Err(error) => Err(error),
        };
        let (state, text) = match &done {
            Ok(taken) => (RejectionState::Done, told(rejection, taken)),
            Err(error) => {
                let reason = format!("It was not taken out: {error}");
                let text = format!(
                    "The developer turned down a change of yours in {}, but it could not be taken out of your directory.",
                    prompt::defang(&rejection.path)
                );
                (RejectionState::Refused { reason }, text)
            }
        };
        let input = self.reminder(&text);
        let (seq, ()) = self.journal.decide(|fold| {
            let is_open = fold.agent(agent).is_some_and(|view| {
                let mine = view.review.rejections.iter().find(|other| other.merge == rejection.merge);
                mine.is_some_and(|mine| mine.state == RejectionState::Queued)
            });
            let fact = ReviewFact::RejectionChanged { merge: rejection.merge.clone(), state };
            let facts = [EventBody::Reviewed { fact }, EventBody::InputReceived { input }];
            // Somebody else may have carried it out at the same time: it is told once.
            let facts = if is_open { facts.map(|fact| (Some(agent.clone()), fact)).into() } else { Vec::new() };
            (facts, ())
        });
        self.journal.stored(seq).await.map_err(|error| super::not_stored(&error))
    }

    /// Counts an agent's changes, and says so on record.
    async fn count_again(&self, agent: &AgentId) {
        match self.changes(agent).await {
            Ok(summary) => {
                self.journal.record(agent, EventBody::ChangesCounted { changes: summary.count });
            }
            Err(error) => tracing::debug!(%agent, %error, "changes could not be counted"),
        }
    }

    /// Records what follows from an agent's view, or turns the wish down.
    async fn reviewed(
        &self,
        agent: &AgentId,
        facts: impl FnOnce(&AgentView) -> Result<Vec<ReviewFact>, Rejected>,
    ) -> Result<(), Rejected> {
        let (seq, allowed) = self.journal.decide(|fold| {
            let Some(view) = fold.agent(agent) else { return (Vec::new(), Err(super::no_such_agent())) };
            match facts(view) {
                Ok(facts) => {
                    let bodies = facts.into_iter().map(|fact| EventBody::Reviewed { fact });
                    (bodies.map(|body| (Some(agent.clone()), body)).collect(), Ok(()))
                }
                Err(rejected) => (Vec::new(), Err(rejected)),
            }
        });
        allowed?;
        self.journal.stored(seq).await.map_err(|error| super::not_stored(&error))
    }

    async fn record_reviewed(
        &self,
        agent: &AgentId,
        facts: Vec<ReviewFact>,
        more: Vec<EventBody>,
    ) -> Result<(), Rejected> {
        let bodies = facts.into_iter().map(|fact| EventBody::Reviewed { fact }).chain(more);
        let facts = bodies.map(|body| (Some(agent.clone()), body)).collect();
        let (seq, ()) = self.journal.decide(|_| (facts, ()));
        self.journal.stored(seq).await.map_err(|error| super::not_stored(&error))
    }
}

/// Whether somebody works in an agent's directory: itself, or one below it that shares it. `ending` doesn't any more.
fn is_worked_in(fold: &Fold, agent: &AgentId, ending: Option<&AgentId>) -> bool {
    let Some(owner) = fold.agent(agent) else { return false };
    fold.view.agents.iter().any(|other| {
        other.directory == owner.directory
            && fold.is_within(&other.id, agent)
            && is_running(&other.state)
            && Some(&other.id) != ending
    })
}

/// What the agent is told about a change that was taken out.
fn told(rejection: &Rejection, taken: &TakenOut) -> String {
    let mut text = format!(
        "The developer turned down a change of yours and took it out of your directory: {}. Don't make it again unless you are \
         asked to.",
        prompt::defang(&rejection.path)
    );
    let all: Vec<String> = taken.hunks.iter().flat_map(lines_of).collect();
    if !all.is_empty() {
        text.push_str("\nThis is what was taken out, as a diff:");
        for line in all.iter().take(SHOWN_LINES) {
            text.push('\n');
            text.push_str(&prompt::defang(line));
        }
        if all.len() > SHOWN_LINES {
            text.push_str("\n…");
        }
    }
    text
}

fn lines_of(hunk: &Hunk) -> Vec<String> {
    let Hunk { old_start, old_lines, new_start, new_lines, .. } = hunk;
    let head = format!("@@ -{old_start},{old_lines} +{new_start},{new_lines} @@");
    let lines = hunk.lines.iter().map(|line| {
        let sign = match line.kind {
            LineKind::Context => ' ',
            LineKind::Added => '+',
            LineKind::Removed => '-',
        };
        format!("{sign}{}", line.text)
    });
    std::iter::once(head).chain(lines).collect()
}
