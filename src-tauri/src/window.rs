//! The window: one page, which can go nowhere else and call only the bridge.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Context;
use tauri::webview::{NewWindowResponse, PageLoadEvent};
use tauri::{AppHandle, Manager, WebviewUrl, WebviewWindow, WebviewWindowBuilder, WindowEvent};
use tauri_plugin_dialog::{DialogExt, MessageDialogButtons, MessageDialogKind};
use tokio::runtime::Runtime;

use crate::arguments::{Arguments, Misused};
use crate::bridge::{self, Bridge};
use crate::surroundings::Surroundings;
use crate::workplace;

#[cfg(target_os = "linux")]
mod crash;

/// How long quitting may take: agents are told to stop, their processes end, the log is flushed.
const QUIT_DEADLINE: Duration = Duration::from_secs(10);

/// How long the question whether agents are at work may take. A core that doesn't answer must not keep the window open.
const BUSY_DEADLINE: Duration = Duration::from_secs(2);

/// Opens the window and stays until it is closed.
pub(crate) fn open(runtime: &Runtime, arguments: &Arguments) -> anyhow::Result<ExitCode> {
    check_display()?;
    let surroundings = Surroundings::read(&arguments.folders)?;
    let project =
        arguments.project.as_deref().map(workplace::folder).transpose().map_err(|error| Misused(error.to_string()))?;
    let page_storage = surroundings.data_dir.join("window");
    tauri::async_runtime::set(runtime.handle().clone());
    let bridge = Bridge::new(surroundings, project, runtime.handle().clone());
    bridge.begin();
    let closing = Arc::new(AtomicBool::new(false));
    let app = tauri::Builder::default()
        .plugin(tauri_plugin_dialog::init())
        .manage(bridge.clone())
        .invoke_handler(bridge::commands())
        .on_page_load(|webview, payload| {
            // A page that begins anew subscribes anew; what the old one was sent has no reader.
            if payload.event() == PageLoadEvent::Started {
                webview.state::<Bridge>().end_subscription();
            }
        })
        .on_window_event(move |window, event| {
            if let WindowEvent::CloseRequested { api, .. } = event {
                api.prevent_close();
                close(window.app_handle(), &closing);
            }
        })
        .setup(move |app| {
            let window = build(app.handle(), page_storage)?;
            #[cfg(target_os = "linux")]
            crash::reload_after_crash(&window)?;
            #[cfg(not(target_os = "linux"))]
            drop(window);
            Ok(())
        })
        .build(tauri::generate_context!())
        .context("the window could not be made")?;
    bridge.spawn(quit_on_signal(app.handle().clone()));
    let code = app.run_return(|_, _| {});
    // The time limit is made inside, where there is a runtime to keep it.
    let ended = runtime.block_on(async { tokio::time::timeout(QUIT_DEADLINE, bridge.shut_down()).await });
    ended.context("not everything ended in time; what was stored is safe")?;
    Ok(u8::try_from(code).map_or(ExitCode::FAILURE, ExitCode::from))
}

fn build(app: &AppHandle, page_storage: std::path::PathBuf) -> tauri::Result<WebviewWindow> {
    WebviewWindowBuilder::new(app, "main", WebviewUrl::App("index.html".into()))
        .title("Offshoot")
        .inner_size(1280.0, 800.0)
        .min_inner_size(900.0, 600.0)
        .prevent_overflow()
        .data_directory(page_storage)
        .disable_drag_drop_handler()
        .on_navigation(is_own_page)
        .on_new_window(|_, _| NewWindowResponse::Deny)
        .on_download(|_, _| false)
        .build()
}

/// Whether an address is the program's own page. Everything else stays outside, whoever asks for it.
fn is_own_page(address: &tauri::Url) -> bool {
    let (scheme, host) = if cfg!(windows) { ("http", "tauri.localhost") } else { ("tauri", "localhost") };
    address.scheme() == scheme && address.host_str() == Some(host)
}

/// Closes the window, after a question when agents are at work.
fn close(app: &AppHandle, asked: &Arc<AtomicBool>) {
    if asked.swap(true, Ordering::SeqCst) {
        return;
    }
    let (app, asked) = (app.clone(), asked.clone());
    app.state::<Bridge>().inner().clone().spawn(async move {
        let bridge = app.state::<Bridge>().inner().clone();
        let busy = tokio::time::timeout(BUSY_DEADLINE, bridge.busy_agents()).await.unwrap_or(0);
        if busy == 0 {
            app.exit(0);
            return;
        }
        let question = if busy == 1 { "One agent is".to_owned() } else { format!("{busy} agents are") };
        let mut dialog = app
            .dialog()
            .message(format!(
                "{question} still at work. Quitting stops them; they can be resumed from where they were."
            ))
            .title("Quit Offshoot?")
            .kind(MessageDialogKind::Warning)
            .buttons(MessageDialogButtons::OkCancelCustom("Stop and quit".into(), "Keep working".into()));
        if let Some(window) = app.get_webview_window("main") {
            dialog = dialog.parent(&window);
        }
        let quitting = app.clone();
        dialog.show(move |confirmed| {
            asked.store(false, Ordering::SeqCst);
            if confirmed {
                quitting.exit(0);
            }
        });
    });
}

/// Ends the program in order when the system asks it to.
#[cfg(unix)]
async fn quit_on_signal(app: AppHandle) {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut terminate), Ok(mut interrupt)) = (signal(SignalKind::terminate()), signal(SignalKind::interrupt()))
    else {
        return;
    };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    app.exit(0);
}

#[cfg(not(unix))]
async fn quit_on_signal(app: AppHandle) {
    if tokio::signal::ctrl_c().await.is_ok() {
        app.exit(0);
    }
}

/// Without a display the toolkit would end the program with a panic.
fn check_display() -> anyhow::Result<()> {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    if cfg!(target_os = "linux") && !is_set("DISPLAY") && !is_set("WAYLAND_DISPLAY") {
        anyhow::bail!(
            "there is no display here (DISPLAY and WAYLAND_DISPLAY are not set). \
             `offshoot exec` runs a prompt without a window; `offshoot exec --provider demo` plays the demo."
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::is_own_page;

    #[cfg(not(windows))]
    #[test]
    fn the_window_stays_on_its_page() {
        let own = |text: &str| is_own_page(&text.parse().unwrap());
        assert!(own("tauri://localhost/index.html#x"));
        for foreign in [
            "https://example.com/",
            "http://localhost/",
            "tauri://localhost.example.com/",
            "file:///etc/passwd",
            "data:text/html,x",
            "about:blank",
        ] {
            assert!(!own(foreign), "{foreign}");
        }
    }
}
