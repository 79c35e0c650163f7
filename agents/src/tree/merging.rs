//! Changes of children brought into their parents' checkouts, because a person said so; and worktrees put away.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use offshoot_protocol::{
    AgentId, Clash, ConflictFile, EventBody, Input, InputId, MergeDone, MergeHow, MergeId, MergePreview,
    MergeSelection, Origin, Rejected, RejectedCode, Resolution, SessionId, WorktreeState,
};

use super::{Tree, not_stored, provenance};
use crate::agent::is_running;
use crate::git::discover;
use crate::merge::{Form, MergeError, Merges, Message, Order, Share};
use crate::prompt;
use crate::worktree::{Parent, Worktree, WorktreeError};

/// How long the hooks and the signing of a commit may take.
const COMMIT_PATIENCE: Duration = Duration::from_secs(5 * 60);

/// Most paths that an event and a reminder name.
const NAMED: usize = 50;

/// How long an archived worktree is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Until somebody deletes it.
    Forever,
    /// Thirty days.
    ForAWhile,
}

impl Tree {
    /// What bringing these agents' changes home would do.
    pub async fn merge_preview(&self, agents: &[AgentId], selection: MergeSelection) -> Result<MergePreview, Rejected> {
        let mut shares = Vec::new();
        let mut homes = Vec::new();
        for agent in agents {
            let selection = match &selection {
                MergeSelection::Accepted => {
                    MergeSelection::Hunks { hashes: self.view(agent, |view| view.review.accepted.clone())? }
                }
                named => named.clone(),
            };
            shares.push(Share { fork: self.live_worktree(agent)?, selection });
            homes.push(self.home(agent)?);
        }
        homes.dedup();
        let [home] = homes.as_slice() else {
            let message = "Changes can be brought home together only when they have the same parent.";
            return Err(Rejected::new(RejectedCode::Invalid, message, "Choose agents of one parent."));
        };
        let order = Order { target: self.checkout_of(home), trust: self.means.git_trust(), shares };
        let mut preview = self.merging(move |merges| merges.preview(&order)).await?;
        if selection == MergeSelection::Accepted {
            // A mark whose change has become another one has fallen: nobody asks for it any more.
            preview.unknown.clear();
        }
        Ok(preview)
    }

    /// Does what a preview said. The log says so when this returns.
    pub async fn merge_apply(&self, merge: &MergeId, leave_out: bool, how: MergeHow) -> Result<MergeDone, Rejected> {
        let (id, session) = (merge.clone(), self.journal.session().clone());
        let preview = self.means.kit.merges.known_preview(merge).map_err(|error| refused(&error))?;
        let done = match how {
            MergeHow::Apply => self.merging(move |merges| merges.apply(&id, leave_out, Some(&session))).await?,
            MergeHow::Squash { message } => {
                let text = self.message(&message, &preview);
                let message = Message { text, patience: COMMIT_PATIENCE };
                self.merging(move |merges| merges.squash(&id, leave_out, &message, Some(&session))).await?
            }
            MergeHow::Merge { message } => {
                let text = self.message(&message, &preview);
                self.with_history(id, Form::Merge, text, session).await?
            }
            MergeHow::Rebase => self.with_history(id, Form::Rebase, String::new(), session).await?,
            MergeHow::CherryPick => self.with_history(id, Form::CherryPick, String::new(), session).await?,
        };
        self.record_applied(&done).await?;
        Ok(done)
    }

    async fn with_history(
        &self,
        id: MergeId,
        form: Form,
        text: String,
        session: SessionId,
    ) -> Result<MergeDone, Rejected> {
        let message = Message { text, patience: COMMIT_PATIENCE };
        self.merging(move |merges| merges.bring_history(&id, &form, &message, Some(&session))).await
    }

    /// A commit's message, with where the changes came from.
    fn message(&self, words: &str, preview: &MergePreview) -> String {
        let titles: Vec<String> = self.journal.read(|fold| {
            let views = preview.agents.iter().filter_map(|agent| fold.agent(agent));
            views.map(|view| view.title.clone()).collect()
        });
        provenance::message(words, &titles, &self.trailers(preview))
    }

    fn trailers(&self, preview: &MergePreview) -> String {
        self.journal.read(|fold| {
            let views = preview.agents.iter().filter_map(|agent| fold.agent(agent));
            let part = |id: &AgentId| preview.parts.iter().find(|part| part.agent == *id);
            provenance::trailers(views.map(|view| (view, part(&view.id))))
        })
    }

    /// Takes out again what was applied in this session.
    pub async fn merge_undo(&self, merge: &MergeId) -> Result<(), Rejected> {
        let known = |fold: &crate::view::Fold| {
            let found = fold.view.applied.iter().find(|applied| applied.merge == *merge && !applied.undone);
            found.map(|applied| applied.into.clone())
        };
        let into = self
            .journal
            .read(known)
            .ok_or_else(|| Rejected::new(RejectedCode::Gone, "These changes are not in the checkout any more.", ""))?;
        let id = merge.clone();
        let done = self.merging(move |merges| merges.undo(&id)).await?;
        let text = format!("The developer took these changes out of your directory again: {}.", named(&done.files));
        let facts = vec![
            (Some(into.clone()), EventBody::ChangesUndone { merge: merge.clone() }),
            (Some(into), EventBody::InputReceived { input: self.reminder(&text) }),
        ];
        let (seq, ()) = self.journal.decide(|_| (facts, ()));
        self.journal.stored(seq).await.map_err(|error| not_stored(&error))
    }

    /// The sides of a conflict that a preview named.
    pub async fn conflict(&self, merge: &MergeId, agent: &AgentId, path: &str) -> Result<ConflictFile, Rejected> {
        let (id, agent, path) = (merge.clone(), agent.clone(), path.to_owned());
        self.merging(move |merges| merges.conflict(&id, &agent, &path)).await
    }

    /// Settles a conflict of a preview. Returns the preview that follows from it.
    pub async fn resolve(
        &self,
        merge: &MergeId,
        agent: &AgentId,
        path: &str,
        with: Resolution,
    ) -> Result<MergePreview, Rejected> {
        let (id, agent, path) = (merge.clone(), agent.clone(), path.to_owned());
        self.merging(move |merges| merges.resolve(&id, &agent, &path, with)).await
    }

    /// Asks the agent to work the checkout's version of a file into its own, which then settles the conflict.
    pub async fn hand_over_conflict(&self, merge: &MergeId, agent: &AgentId, path: &str) -> Result<(), Rejected> {
        let file = self.conflict(merge, agent, path).await?;
        let Some(ours) = file.ours.filter(|_| file.text) else {
            let message = "Only a text that both sides have can be handed to the agent.";
            return Err(Rejected::new(RejectedCode::NotApplicable, message, "Take a side instead."));
        };
        let text = provenance::conflict(path, &ours);
        self.send(agent, text).await
    }

    /// What a preview would change, as a patch.
    pub async fn merge_patch(&self, merge: &MergeId) -> Result<Vec<u8>, Rejected> {
        let id = merge.clone();
        let preview = self.means.kit.merges.known_preview(merge).map_err(|error| refused(&error))?;
        let patch = self.merging(move |merges| merges.patch(&id)).await?;
        // What stands before the first file is no part of the patch.
        Ok([self.trailers(&preview).into_bytes(), b"\n".to_vec(), patch].concat())
    }

    /// Which worktrees can't come home together, or at all.
    pub async fn conflicts(&self) -> Result<Vec<Clash>, Rejected> {
        let ids: Vec<AgentId> = super::lock(&self.places).keys().cloned().collect();
        let mut by_home: BTreeMap<AgentId, Vec<Worktree>> = BTreeMap::new();
        for id in &ids {
            if let (Ok(worktree), Ok(home)) = (self.live_worktree(id), self.home(id)) {
                by_home.entry(home).or_default().push(worktree);
            }
        }
        let mut clashes = Vec::new();
        for (home, mut forks) in by_home {
            forks.sort_by(|a, b| (a.created_at, &a.id).cmp(&(b.created_at, &b.id)));
            let target = self.checkout_of(&home);
            let trust = self.means.git_trust();
            clashes.extend(self.merging(move |merges| merges.radar(&target, trust, &forks)).await?);
        }
        Ok(clashes)
    }

    /// Puts everything in an agent's worktree under a ref and frees its directory.
    pub async fn archive(&self, agent: &AgentId, keep: Keep) -> Result<(), Rejected> {
        let worktree = self.live_worktree(agent)?;
        let busy = self.journal.read(|fold| {
            let mut below = fold.view.agents.iter().filter(|other| fold.is_within(&other.id, agent));
            below.any(|other| is_running(&other.state))
        });
        if busy {
            let message = "The agent, or one below it, is at work in this worktree.";
            return Err(Rejected::new(RejectedCode::NotApplicable, message, "Stop it first."));
        }
        self.stop_shells(agent).await;
        let archived = match keep {
            Keep::Forever => self.means.kit.worktrees.archive(&worktree).await,
            Keep::ForAWhile => self.means.kit.worktrees.discard(&worktree).await,
        };
        let archive = archived.map_err(|error| failed(&error, "The worktree is as it was."))?;
        self.forget_worktree(agent);
        let removed = EventBody::WorktreeRemoved { kept_as: Some(archive.reference) };
        let (seq, ()) = self.journal.decide(|_| (vec![(Some(agent.clone()), removed)], ()));
        self.journal.stored(seq).await.map_err(|error| not_stored(&error))
    }

    /// Brings an archived worktree back.
    pub async fn restore(&self, agent: &AgentId) -> Result<(), Rejected> {
        let kept = self.view(agent, |view| match view.worktree.as_ref().map(|worktree| &worktree.state) {
            Some(WorktreeState::Removed { kept_as: Some(reference) }) => Some(reference.clone()),
            _ => None,
        })?;
        let Some(reference) = kept else {
            return Err(Rejected::new(RejectedCode::NotApplicable, "The agent has no archived worktree.", ""));
        };
        let git = self.means.kit.worktrees.git().clone();
        let (project, trust) = (self.folder_of_project(), self.means.git_trust());
        let found = tokio::task::spawn_blocking(move || discover(&git, &project, trust)).await;
        let found = found.map_err(|error| failed(&error, ""))?.map_err(|error| failed(&error, ""))?;
        let root = self.means.worktree.directory.as_deref();
        let restored = self.means.kit.worktrees.restore(&found.repository, trust, &reference, root).await;
        let worktree = restored.map_err(|error: WorktreeError| failed(&error, "The archive is as it was."))?;
        let worktree = self.remember_worktree(agent, worktree);
        let created = EventBody::WorktreeCreated { worktree: worktree.view() };
        let (seq, ()) = self.journal.decide(|_| (vec![(Some(agent.clone()), created)], ()));
        self.journal.stored(seq).await.map_err(|error| not_stored(&error))?;
        // It works in what is there now.
        if let Some(me) = self.me.upgrade() {
            me.bring_back(agent).map_err(|error| not_stored(&error))?;
        }
        Ok(())
    }

    /// Records what a crash kept out of the log.
    pub(super) async fn record_untold(&self) {
        let session = self.journal.read(|fold| fold.view.id.clone());
        let merges = self.means.kit.merges.clone();
        let untold = tokio::task::spawn_blocking(move || merges.untold(&session)).await.unwrap_or_default();
        for done in untold {
            let is_known =
                self.journal.read(|fold| fold.view.applied.iter().any(|applied| applied.merge == done.merge));
            let told = if is_known { self.told(&done.merge).await } else { self.record_applied(&done).await };
            if let Err(error) = told {
                tracing::error!(%error, merge = %done.merge, "an applied merge could not be recorded");
            }
        }
    }

    async fn record_applied(&self, done: &MergeDone) -> Result<(), Rejected> {
        let agent = done.agents.first().ok_or_else(|| Rejected::new(RejectedCode::Invalid, "Nobody's changes.", ""))?;
        let into = self.home(agent)?;
        let titles = self.journal.read(|fold| {
            let title = |id: &AgentId| fold.agent(id).map_or_else(|| id.0.clone(), |agent| agent.title.clone());
            done.agents.iter().map(|id| format!("“{}” ({id})", title(id))).collect::<Vec<_>>().join(", ")
        });
        let how = if done.commit.is_some() { "committed" } else { "put into your directory, uncommitted" };
        let text = format!(
            "The developer has {how} the changes of {}: {}. Read these files again before you edit them.",
            prompt::defang(&titles),
            named(&done.files)
        );
        let applied = EventBody::ChangesApplied {
            merge: done.merge.clone(),
            agents: done.agents.clone(),
            changes: done.count,
            files: done.files.iter().take(NAMED).cloned().collect(),
            commit: done.commit.clone(),
        };
        let input = self.reminder(&text);
        let facts = vec![(Some(into.clone()), applied), (Some(into), EventBody::InputReceived { input })];
        let (seq, ()) = self.journal.decide(|_| (facts, ()));
        self.journal.stored(seq).await.map_err(|error| not_stored(&error))?;
        self.told(&done.merge).await
    }

    async fn told(&self, merge: &MergeId) -> Result<(), Rejected> {
        let merge = merge.clone();
        self.merging(move |merges| merges.told(&merge)).await
    }

    pub(super) fn reminder(&self, text: &str) -> Input {
        let id = InputId(self.means.kit.ids.next("i-"));
        Input { id, text: format!("<reminder>\n{text}\n</reminder>"), origin: Origin::Reminder, source: None }
    }

    pub(super) fn live_worktree(&self, agent: &AgentId) -> Result<Worktree, Rejected> {
        let worktree = self.worktree(agent).ok_or_else(|| self.no_worktree(agent))?;
        Ok(Arc::unwrap_or_clone(worktree))
    }

    /// Whose checkout an agent's changes belong in: its nearest ancestor's that has one, else the root's.
    fn home(&self, agent: &AgentId) -> Result<AgentId, Rejected> {
        let mut at = self.view(agent, |view| view.parent.clone())?;
        let mut last = agent.clone();
        while let Some(parent) = at {
            if self.worktree(&parent).is_some() {
                return Ok(parent);
            }
            at = self.view(&parent, |view| view.parent.clone())?;
            last = parent;
        }
        Ok(last)
    }

    fn checkout_of(&self, home: &AgentId) -> Parent {
        match self.worktree(home) {
            Some(worktree) => Parent::Worktree(Box::new(Arc::unwrap_or_clone(worktree))),
            None => Parent::Directory(self.folder_of_project()),
        }
    }

    fn folder_of_project(&self) -> PathBuf {
        self.journal.read(|fold| PathBuf::from(&fold.view.project))
    }

    pub(super) async fn merging<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Merges) -> Result<T, MergeError> + Send + 'static,
    ) -> Result<T, Rejected> {
        let merges = self.means.kit.merges.clone();
        match tokio::task::spawn_blocking(move || work(&merges)).await {
            Ok(done) => done.map_err(|error| refused(&error)),
            Err(error) => Err(failed(&error, "")),
        }
    }
}

fn failed(error: &dyn std::fmt::Display, hint: &str) -> Rejected {
    Rejected::new(RejectedCode::Failed, error.to_string(), hint)
}

fn refused(error: &MergeError) -> Rejected {
    let (code, hint) = match error {
        MergeError::UnknownPreview | MergeError::Changed(_) => {
            (RejectedCode::Gone, "Nothing was touched. Look at the preview again.")
        }
        MergeError::Stuck { .. } => (RejectedCode::Failed, "Start Offshoot again once the cause is gone."),
        MergeError::Nothing => (RejectedCode::NotApplicable, ""),
        MergeError::Conflicts(_) => (RejectedCode::NotApplicable, "Nothing was touched. These files can be left out."),
        MergeError::ChangedSince(_) => {
            (RejectedCode::NotApplicable, "Nothing was touched, since undoing would lose these later changes.")
        }
        MergeError::NotApplied(_) => (RejectedCode::Gone, ""),
        MergeError::MovedOn(_) => (RejectedCode::NotApplicable, "Take it back with `git revert`."),
        MergeError::Dirty(_) => (RejectedCode::NotApplicable, "Commit them first, or apply without a commit."),
        MergeError::NoCommit(_) => (RejectedCode::NotApplicable, "Apply without a commit instead."),
        _ => (RejectedCode::Failed, "The files are as they were."),
    };
    let message = error.to_string();
    let mut letters = message.chars();
    let message: String = letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).chain(['.']).collect();
    Rejected::new(code, message, hint)
}

/// A list of paths for a sentence, bounded and harmless.
pub(super) fn named(files: &[String]) -> String {
    let shown: Vec<_> = files.iter().take(NAMED).map(|file| prompt::defang(file)).collect();
    let rest = files.len().saturating_sub(NAMED);
    if rest == 0 { shown.join(", ") } else { format!("{} and {rest} more", shown.join(", ")) }
}
