//! When the page's process dies: the page is loaded again and draws the same state, because all state is the core's.

use std::cell::Cell;
use std::time::{Duration, Instant};

use tauri::WebviewWindow;
use webkit2gtk::WebViewExt;

/// A page that dies again this soon would do so for ever.
const LEAST_LIFE: Duration = Duration::from_secs(5);

/// Reloads the page of `window` whenever its process ends on its own.
pub(super) fn reload_after_crash(window: &WebviewWindow) -> tauri::Result<()> {
    window.with_webview(|platform| {
        let last: Cell<Option<Instant>> = Cell::new(None);
        platform.inner().connect_web_process_terminated(move |view, reason| {
            tracing::error!(?reason, "the page's process ended");
            let now = Instant::now();
            if last.replace(Some(now)).is_none_or(|last| now.duration_since(last) > LEAST_LIFE) {
                view.reload();
            }
        });
    })
}
