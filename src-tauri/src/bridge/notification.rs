//! Notifications through the desktop's own service, from this side: the page can't send any.
//!
//! Where there is no such service nothing is shown, and nothing fails: the badge and the window say the same.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use tauri::{AppHandle, Manager, UserAttentionType, WebviewWindow};

use super::attention::{Desktop, Notice};

/// The desktop around the window.
#[derive(Clone)]
pub(super) struct Around {
    app: AppHandle,
    shown: Arc<Shown>,
}

impl Around {
    pub(super) fn new(app: AppHandle) -> Self {
        Self { app, shown: Arc::default() }
    }

    fn window(&self) -> Option<WebviewWindow> {
        self.app.get_webview_window("main")
    }
}

impl Desktop for Around {
    fn is_in_front(&self) -> bool {
        // A window that can't be asked is taken for one that is looked at.
        self.window().is_none_or(|window| window.is_focused().unwrap_or(true))
    }

    fn notify(&self, notice: Notice) {
        if let Some(window) = self.window() {
            let _ = window.request_user_attention(Some(UserAttentionType::Informational));
        }
        let shown = self.shown.clone();
        // The service may take its time to answer, or to be started.
        tauri::async_runtime::spawn_blocking(move || {
            if let Err(error) = shown.show(&notice) {
                tracing::info!(%error, "the desktop shows no notifications");
            }
        });
    }

    fn badge(&self, count: usize) {
        let Some(window) = self.window() else { return };
        let title = if count == 0 { "Offshoot".to_owned() } else { format!("({count}) Offshoot") };
        let _ = window.set_title(&title);
        // Some docks have none.
        let _ = window.set_badge_count(i64::try_from(count).ok().filter(|count| *count > 0));
    }
}

/// The notification that is shown; the next one takes its place.
#[derive(Default)]
struct Shown(AtomicU32);

impl Shown {
    fn show(&self, notice: &Notice) -> Result<(), notify_rust::error::Error> {
        let mut notification = notify_rust::Notification::new();
        notification.appname("Offshoot").summary(&notice.title).body(notice.body);
        let before = self.0.load(Ordering::Relaxed);
        if before != 0 {
            notification.id(before);
        }
        let handle = notification.show()?;
        #[cfg(not(any(windows, target_os = "macos")))]
        self.0.store(handle.id(), Ordering::Relaxed);
        #[cfg(any(windows, target_os = "macos"))]
        drop(handle);
        Ok(())
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::collections::HashMap;
    use std::path::Path;
    use std::process::Command;
    use std::sync::Mutex;

    use zbus::OwnedVariant;

    use super::*;

    type Told = (String, u32, String, String, Vec<String>);

    /// A notification service that writes down what it is told.
    #[derive(Clone, Default)]
    struct Service(Arc<Mutex<Vec<Told>>>);

    #[zbus::interface(name = "org.freedesktop.Notifications")]
    impl Service {
        #[expect(
            clippy::too_many_arguments,
            clippy::needless_pass_by_value,
            reason = "the Desktop Notifications Specification has them, and they come as values"
        )]
        fn notify(
            &self,
            app: String,
            replaces: u32,
            icon: String,
            summary: String,
            body: String,
            actions: Vec<String>,
            hints: HashMap<String, OwnedVariant>,
            timeout: i32,
        ) -> u32 {
            assert!(icon.is_empty() && hints.len() < 8 && timeout < 60_000, "nothing but text");
            let mut told = self.0.lock().expect("nobody panics while writing it down");
            told.push((app, replaces, summary, body, actions));
            7
        }
    }

    fn notice(title: &str) -> Notice {
        Notice { title: title.to_owned(), body: "It wants to run a command." }
    }

    /// Not a test by itself: runs where the next one has made a session bus.
    #[tokio::test(flavor = "multi_thread")]
    #[ignore = "run by `a_notification_reaches_the_desktops_service`"]
    async fn on_a_bus() {
        let shown = Arc::<Shown>::default();
        let show = async |title: &str| {
            let (shown, notice) = (shown.clone(), notice(title));
            tokio::task::spawn_blocking(move || shown.show(&notice)).await.unwrap()
        };
        assert!(show("Nobody listens").await.is_err(), "without a service it is an error, and no more");
        let service = Service::default();
        let builder = zbus::connection::Builder::session().name("org.freedesktop.Notifications");
        let builder = builder.serve_at("/org/freedesktop/Notifications", service.clone());
        let _connection = builder.build().await.unwrap();
        show("One asks").await.unwrap();
        show("Two ask").await.unwrap();
        let told = service.0.lock().unwrap();
        let line = |replaces: u32, title: &str| {
            let body = "It wants to run a command.".to_owned();
            ("Offshoot".to_owned(), replaces, title.to_owned(), body, Vec::new())
        };
        assert_eq!(*told, [line(0, "One asks"), line(7, "Two ask")]);
    }

    #[test]
    fn a_notification_reaches_the_desktops_service() {
        if !Path::new("/usr/bin/dbus-run-session").exists() {
            eprintln!("NOT TESTED: dbus-run-session is not installed");
            return;
        }
        let output = Command::new("/usr/bin/dbus-run-session")
            .arg("--")
            .arg(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "bridge::notification::tests::on_a_bus"])
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"));
    }
}
