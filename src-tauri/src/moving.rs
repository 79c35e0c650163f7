//! `offshoot export` and `offshoot import`: sessions as files.

use std::process::ExitCode;

use crate::arguments::{ExportArguments, FolderArguments, ImportArguments, Misused};
use crate::console::Console;
use crate::sessions::{find, print_json};
use crate::surroundings::Surroundings;
use crate::workplace::{self, Choice};

/// Writes a session to a file or to standard output. Works beside another program.
pub(crate) async fn export(
    arguments: &ExportArguments,
    folders: &FolderArguments,
    console: &mut Console,
) -> anyhow::Result<ExitCode> {
    let workbench = workplace::look(&Surroundings::read(folders)?, console).await?;
    let done = async {
        let session = find(&workbench, &arguments.id)?;
        match &arguments.output {
            Some(path) => {
                workbench.export_file(&session, path).await?;
                console.note(&format!("Exported {session} to {}.", path.display()));
            }
            None => workbench.export(&session, Console::raw_output()).await?,
        }
        anyhow::Ok(ExitCode::SUCCESS)
    };
    let done = done.await;
    workbench.shut_down().await;
    done
}

/// Stores a session from a file.
pub(crate) async fn import(
    arguments: &ImportArguments,
    folders: &FolderArguments,
    console: &mut Console,
) -> anyhow::Result<ExitCode> {
    let project = arguments.directory.as_deref().map(workplace::folder).transpose();
    let project = project.map_err(|error| Misused(error.to_string()))?;
    let workbench = workplace::open(&Surroundings::read(folders)?, Choice::default()).await?;
    let done = async {
        let session = workbench.import_file(&arguments.file, project.as_deref()).await?;
        if arguments.json {
            print_json(console, &serde_json::json!({"imported": session}))?;
        } else {
            console.note(&format!("Imported as {session}; `offshoot tree {session}` shows it."));
        }
        anyhow::Ok(ExitCode::SUCCESS)
    };
    let done = done.await;
    workbench.shut_down().await;
    done
}
