//! Worktrees in the making: an agent is there, thinks and can be stopped before its files are. Its first call that needs
//! them waits.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use offshoot_protocol::{
    AgentId, AgentOutcome, AgentView, Delta, EventBody, FailureCode, Rejected, RejectedCode, Warning, WorktreeState,
};
use tokio::sync::watch;

use super::{Tree, lock, not_stored};
use crate::agent::is_running;
use crate::git::Cancel;
use crate::tool::{Refusal, ToolError};
use crate::turn::{Isolated, NoPlace};
use crate::worktree::{self, Parent, Plan, Progress, Spec, Worktree, WorktreeError};

/// Where an isolated agent works.
pub(super) enum Place {
    /// In what is being made.
    Making(Making),
    /// In what is there.
    Made(Arc<Worktree>),
}

/// A worktree that is being made.
#[derive(Clone)]
pub(super) struct Making {
    stage: watch::Receiver<Stage>,
    cancel: Cancel,
}

/// How far it is.
#[derive(Clone)]
enum Stage {
    /// What it starts from isn't known yet.
    Begun,
    /// What happens to the parent's files doesn't matter any more.
    Recorded,
    Ready(Arc<Worktree>),
    Failed(NoPlace),
}

impl Making {
    /// Waits until the parent may go on changing its files.
    pub(super) async fn recorded(mut self) {
        // It fails when the session is being closed.
        let _ = self.stage.wait_for(|stage| !matches!(stage, Stage::Begun)).await;
    }

    /// Waits for the end of it.
    async fn over(mut self) -> Result<Arc<Worktree>, NoPlace> {
        let is_over = |stage: &Stage| matches!(stage, Stage::Ready(_) | Stage::Failed(_));
        match self.stage.wait_for(is_over).await.as_deref() {
            Ok(Stage::Ready(worktree)) => Ok(worktree.clone()),
            Ok(Stage::Failed(why)) => Err(why.clone()),
            _ => Err(NoPlace::missing("The session is closing.")),
        }
    }
}

#[async_trait]
impl Isolated for Making {
    async fn verify(&self) -> Result<(), NoPlace> {
        let worktree = self.clone().over().await?;
        worktree::verify(&worktree).map_err(|error| NoPlace::missing(error.to_string()))
    }

    async fn lost(&self) -> NoPlace {
        match self.clone().over().await {
            Err(why) => why,
            Ok(_) => std::future::pending().await,
        }
    }
}

impl Tree {
    /// Chooses a child's worktree, to be made from what its parent's directory holds. Refuses what can't work, before
    /// anything is made. Never falls back to that directory.
    pub(super) async fn plan_place(&self, id: &AgentId, parent: &Path, title: &str) -> Result<Plan, ToolError> {
        let spec = Spec {
            id: id.0.clone(),
            title: title.to_owned(),
            parent: Parent::Directory(parent.to_path_buf()),
            base: self.means.worktree.base.clone(),
            trust: self.means.git_trust(),
            hooks: self.means.worktree.hooks,
            setup: self.setup(id),
            root: self.means.worktree.directory.clone(),
        };
        self.means.kit.worktrees.plan(spec).await.map_err(|error| {
            let message = format!("No worktree can be made, so no agent was started: {error}");
            Refusal::IsolationUnavailable.because(message)
        })
    }

    /// A planned worktree, of which the log knows, and the work of making it, to be spawned when its agent is there.
    pub(super) fn make_place(&self, id: &AgentId, plan: Plan) -> (Making, impl Future<Output = ()> + Send + use<>) {
        let (stage, seen) = watch::channel(Stage::Begun);
        let making = Making { stage: seen, cancel: Cancel::default() };
        lock(&self.places).insert(id.clone(), Place::Making(making.clone()));
        let (tree, id, cancel) = (self.me.clone(), id.clone(), making.cancel.clone());
        let worktrees = self.means.kit.worktrees.clone();
        let told = self.telling(&id, stage.clone());
        let work = async move {
            let made = worktrees.carry_out(plan, &cancel, told).await;
            // A session that is closed finds it again when it is opened.
            let Some(tree) = tree.upgrade() else { return };
            let last = match made {
                Ok(worktree) => tree.place_is_made(&id, worktree).await,
                Err(error) => tree.place_is_lost(&id, &error),
            };
            stage.send_replace(last);
        };
        (making, work)
    }

    /// What passes on how far a creation is: each percent once.
    fn telling(&self, id: &AgentId, stage: watch::Sender<Stage>) -> impl Fn(Progress) + Send + Sync + use<> {
        let (journal, agent, last) = (self.journal.clone(), id.clone(), AtomicUsize::new(usize::MAX));
        move |progress| match progress {
            Progress::Recorded => drop(stage.send_replace(Stage::Recorded)),
            Progress::Files { done, all } => {
                let percent = (done * 100).checked_div(all).unwrap_or(0);
                if last.swap(percent, Ordering::Relaxed) != percent {
                    let count = |number| u32::try_from(number).unwrap_or(u32::MAX);
                    journal.stream(&Delta::Making { agent: agent.clone(), done: count(done), all: count(all) });
                }
            }
            Progress::Setup => {}
        }
    }

    async fn place_is_made(&self, id: &AgentId, worktree: Worktree) -> Stage {
        let warning = |message: &String| Warning { code: "worktree".to_owned(), message: message.clone() };
        let mut facts = vec![EventBody::WorktreeCreated { worktree: worktree.view() }];
        facts.extend(worktree.warnings.iter().map(|message| EventBody::Warned { warning: warning(message) }));
        let about = |body| (Some(id.clone()), body);
        let (seq, ()) = self.journal.decide(|_| (facts.into_iter().map(about).collect(), ()));
        let is_stored = self.journal.stored(seq).await;
        let objection = self.worktree_created(id, &worktree).await;
        let worktree = self.remember_worktree(id, worktree);
        match (is_stored, objection) {
            (Err(error), _) => Stage::Failed(NoPlace { code: FailureCode::Storage, message: error.to_string() }),
            (Ok(()), None) => Stage::Ready(worktree),
            (Ok(()), Some(reason)) => {
                let message = format!("A hook ended the work: {reason}");
                Stage::Failed(NoPlace { code: FailureCode::Hook, message })
            }
        }
    }

    fn place_is_lost(&self, id: &AgentId, error: &WorktreeError) -> Stage {
        self.journal.record(id, EventBody::WorktreeRemoved { kept_as: None });
        let message = format!("Its worktree could not be made: {error}");
        Stage::Failed(NoPlace { code: FailureCode::IsolationUnavailable, message })
    }

    /// At a child's end: nothing is made for it any more. A worktree that a stopped agent waits for is given up, another one
    /// is waited for. What it did without files is a failure all the same when there was to be a worktree and isn't.
    pub(super) async fn settle_place(&self, id: &AgentId, outcome: AgentOutcome) -> AgentOutcome {
        let making = match lock(&self.places).get(id) {
            Some(Place::Making(making)) => making.clone(),
            Some(Place::Made(_)) | None => return outcome,
        };
        if outcome == AgentOutcome::Stopped {
            making.cancel.cancel();
        }
        let over = making.over().await;
        if over.is_err() {
            lock(&self.places).retain(|other, place| other != id || matches!(place, Place::Made(_)));
        }
        match (over, outcome) {
            (Err(NoPlace { code, message }), AgentOutcome::Completed { report }) => {
                AgentOutcome::Failed { code, message, partial: Some(report) }
            }
            (_, outcome) => outcome,
        }
    }

    /// Begins to make the worktree of an agent at rest again, where it was, when it was taken away because nothing had
    /// changed in it or was never made: the agent is about to go on, and knows that path.
    pub(super) async fn make_place_again(&self, id: &AgentId) -> Result<(), Rejected> {
        let lost = self.journal.read(|fold| {
            let agent = fold.agent(id).filter(|agent| !is_running(&agent.state))?;
            let nothing_kept = WorktreeState::Removed { kept_as: None };
            let parent = fold.agent(agent.parent.as_ref()?)?;
            let is_lost = agent.worktree.as_ref().is_some_and(|worktree| worktree.state == nothing_kept);
            is_lost.then(|| (PathBuf::from(&parent.directory), agent.title.clone(), PathBuf::from(&agent.directory)))
        });
        let Some((parent, title, directory)) = lost else { return Ok(()) };
        let refused =
            |message: String| Rejected::new(RejectedCode::IsolationUnavailable, message, "Start another agent.");
        let plan = self.plan_place(id, &parent, &title).await.map_err(|error| refused(error.message))?;
        if plan.directory != directory {
            return Err(refused(format!("The agent's worktree is gone, and {} is taken.", directory.display())));
        }
        let planned = EventBody::WorktreePlanned { worktree: plan.view() };
        let (seq, ()) = self.journal.decide(|_| (vec![(Some(id.clone()), planned)], ()));
        let (_, work) = self.make_place(id, plan);
        let stored = self.journal.stored(seq).await;
        let tree = self.me.upgrade().expect("somebody holds the tree while it is used");
        stored.and_then(|()| tree.bring_back(id)).map_err(|error| not_stored(&error))?;
        lock(&self.tasks).spawn(work);
        Ok(())
    }

    /// Finds the worktrees of this session's agents again. One that was in the making when the program ended is there whole
    /// or not at all.
    pub(super) async fn recall_worktrees(&self) {
        let has_one = |agent: &&AgentView| {
            let state = agent.worktree.as_ref().map(|worktree| &worktree.state);
            matches!(state, Some(WorktreeState::Live | WorktreeState::Making))
        };
        let (mut ids, making): (Vec<AgentId>, Vec<AgentId>) = self.journal.read(|fold| {
            let agents = fold.view.agents.iter().filter(has_one);
            let is_made = |agent: &&AgentView| {
                agent.worktree.as_ref().is_some_and(|worktree| worktree.state == WorktreeState::Live)
            };
            let (made, making): (Vec<_>, Vec<_>) = agents.partition(is_made);
            let ids = |agents: Vec<&AgentView>| agents.into_iter().map(|agent| agent.id.clone()).collect();
            (ids(made), ids(making))
        });
        if ids.is_empty() && making.is_empty() {
            return;
        }
        ids.extend(making.iter().cloned());
        match self.means.kit.worktrees.list().await {
            Ok(listed) => {
                let recorded = listed.into_iter().filter_map(|listed| listed.worktree);
                for worktree in recorded.filter(|worktree| ids.contains(&AgentId(worktree.id.clone()))) {
                    let id = AgentId(worktree.id.clone());
                    if making.contains(&id) {
                        self.journal.record(&id, EventBody::WorktreeCreated { worktree: worktree.view() });
                    }
                    self.remember_worktree(&id, worktree);
                }
            }
            Err(error) => tracing::error!(%error, "the worktrees could not be listed"),
        }
        for id in making.iter().filter(|id| self.worktree(id).is_none()) {
            self.journal.record(id, EventBody::WorktreeRemoved { kept_as: None });
        }
    }
}
