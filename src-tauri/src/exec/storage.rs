//! A run whose facts can't be stored: it waits a little, since space may be made, and then ends rather than hang.

use std::time::Duration;

use offshoot_agents::workbench::Workbench;
use offshoot_protocol::Storage;

/// How long a run waits for the disk.
const PATIENCE: Duration = Duration::from_secs(10);

/// Runs `run`, unless nothing can be stored for a while: then the inner error says why, and what is safe.
pub(super) async fn guard<T>(
    workbench: &Workbench,
    run: impl Future<Output = anyhow::Result<T>>,
) -> anyhow::Result<Result<T, String>> {
    tokio::select! {
        done = run => done.map(Ok),
        message = stuck(workbench) => Ok(Err(format!(
            "{message} Nothing more was done, and nothing that was confirmed is lost: \
             once there is room, `offshoot exec --continue` goes on from there."
        ))),
    }
}

/// Waits until storing has not worked for as long as a run is patient; says what is wrong then.
async fn stuck(workbench: &Workbench) -> String {
    let mut health = workbench.storage();
    let is_waiting = |health: &Storage| matches!(health, Storage::Waiting { .. });
    loop {
        let Ok(waiting) = health.wait_for(is_waiting).await.map(|health| health.clone()) else {
            return std::future::pending().await;
        };
        let recovered = health.wait_for(|health| !is_waiting(health));
        if let (Err(_), Storage::Waiting { message }) = (tokio::time::timeout(PATIENCE, recovered).await, waiting) {
            return message;
        }
    }
}

/// What a person is told when it begins and when it is over.
pub(super) fn line(storage: &Storage) -> String {
    match storage {
        Storage::Waiting { message } => format!("offshoot: {message} Waiting until it works again."),
        Storage::Working => "offshoot: storing works again.".to_owned(),
    }
}
