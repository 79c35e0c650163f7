//! The real window, driven: a display of its own, a `WebDriver` of its own, the built program.
//!
//! Waiting is always for a condition on the page, with a deadline; nothing sleeps for a fixed time.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fantoccini::actions::{InputSource, MOUSE_BUTTON_LEFT, MouseActions, PointerAction};
use fantoccini::elements::Element;
use fantoccini::{Client, ClientBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};

mod page;
mod processes;

use processes::{Display, Driver};

/// How long a condition may take to come true. Generous: the machine may be busy.
pub const DEADLINE: Duration = Duration::from_secs(60);

/// Between two looks at the page.
const PACE: Duration = Duration::from_millis(25);

/// Which colours the desktop prefers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// Dark on light.
    Light,
    /// Light on dark.
    Dark,
}

/// A display that windows can be opened on. Ends with everything on it when dropped.
pub struct Desktop {
    display: Display,
    home: tempfile::TempDir,
}

/// An open window.
pub struct Window {
    client: Client,
    pictures: PathBuf,
    // Ends the program when dropped; after `client`, which speaks through it.
    driver: Driver,
}

impl Desktop {
    /// Starts a display; `None`, with a notice, when this machine can't show windows and `OFFSHOOT_REQUIRE_WINDOW` isn't
    /// `1`. With `0` there is never one.
    ///
    /// # Panics
    /// When a window is required and can't be had.
    pub fn start() -> Option<Self> {
        let required = std::env::var("OFFSHOOT_REQUIRE_WINDOW").unwrap_or_default();
        if required == "0" {
            notice("window tests are left out (OFFSHOOT_REQUIRE_WINDOW=0)");
            return None;
        }
        let missing: Vec<_> =
            ["Xvfb", "WebKitWebDriver"].into_iter().filter(|name| !processes::is_there(name)).collect();
        if !missing.is_empty() {
            let missing = missing.join(" and ");
            assert!(
                required != "1",
                "{missing} is missing and OFFSHOOT_REQUIRE_WINDOW is set; `cargo xtask test` installs it"
            );
            notice(&format!("NOT TESTED: the window. {missing} is missing; `cargo xtask test` installs it."));
            return None;
        }
        let home = tempfile::tempdir().expect("a temporary folder can be made");
        Some(Self { display: Display::start(), home })
    }

    /// Opens the program's window on these folders, with a home of its own.
    ///
    /// # Panics
    /// When it doesn't open.
    pub async fn open(&self, folders: &Folders, scheme: Scheme) -> Window {
        self.open_on(folders, scheme, None).await
    }

    /// The same on a project.
    ///
    /// # Panics
    /// When it doesn't open.
    pub async fn open_on(&self, folders: &Folders, scheme: Scheme, project: Option<&Path>) -> Window {
        let mut arguments = folders.arguments();
        arguments.extend(project.map(|project| project.to_string_lossy().into_owned()));
        let theme = if scheme == Scheme::Dark { "Adwaita:dark" } else { "Adwaita" };
        let driver = Driver::start(&self.display, self.home.path(), theme).await;
        let program = crate::program::offshoot();
        let wanted = json!({
            "browserName": "wry",
            "webkitgtk:browserOptions": { "binary": program, "args": arguments },
        });
        let Value::Object(capabilities) = wanted else { unreachable!("it was written as an object") };
        let mut builder = ClientBuilder::new(HttpConnector::new());
        let client = builder.capabilities(capabilities).connect(&driver.address()).await;
        let client = client.unwrap_or_else(|error| panic!("the window didn't open: {error}"));
        let pictures = crate::program::target().join("window-screenshots");
        std::fs::create_dir_all(&pictures).expect("the target folder can be written");
        Window { client, pictures, driver }
    }
}

impl Window {
    /// The `WebDriver` client, for what has no method here.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Waits for the visible element with this role and accessible name. `name` is compared whole, but for its case.
    ///
    /// # Panics
    /// When there is none before the deadline.
    pub async fn find(&self, role: &str, name: &str) -> Element {
        self.find_where(&Query { role, name: Some(name), ..Query::default() }).await
    }

    /// Waits for the first visible element that the query names.
    ///
    /// # Panics
    /// When there is none before the deadline.
    pub async fn find_where(&self, query: &Query<'_>) -> Element {
        self.wait(&format!("{query:?}"), async || self.look(query).await.into_iter().next()).await
    }

    /// All visible elements that the query names, now.
    ///
    /// # Panics
    /// When the page can't be asked.
    pub async fn look(&self, query: &Query<'_>) -> Vec<Element> {
        page::look(&self.client, query).await.unwrap_or_else(|error| panic!("the page can't be asked: {error}"))
    }

    /// Clicks the button with this name, with the real pointer, as soon as it can be.
    ///
    /// # Panics
    /// When it can't be before the deadline.
    pub async fn press(&self, name: &str) {
        self.press_where(&Query { role: "button", name: Some(name), ..Query::default() }).await;
    }

    /// Clicks the first enabled element that the query names, with the real pointer.
    ///
    /// # Panics
    /// When there is none before the deadline.
    pub async fn press_where(&self, query: &Query<'_>) {
        let query = Query { enabled: true, ..*query };
        self.wait(&format!("to press {query:?}"), async || {
            let element = self.look(&query).await.into_iter().next()?;
            // It may have moved away between looking and clicking; then it is looked for again.
            element.click().await.ok()
        })
        .await;
    }

    /// Drags from the first element to the second with the real pointer, in several steps, and drops there.
    ///
    /// # Panics
    /// When one of them isn't there before the deadline, or the driver can't.
    pub async fn drag(&self, from: &Query<'_>, to: &Query<'_>) {
        let (x, y) = self.middle(from).await;
        let (to_x, to_y) = self.middle(to).await;
        let steps = (1..=8).map(f64::from).map(|step| (x + (to_x - x) * step / 8.0, y + (to_y - y) * step / 8.0));
        let go = |(x, y): (f64, f64)| PointerAction::MoveTo { duration: Some(Duration::from_millis(12)), x, y };
        let held = MouseActions::new("mouse".to_owned())
            .then(go((x, y)))
            .then(PointerAction::Down { button: MOUSE_BUTTON_LEFT });
        let moved = steps.fold(held, |actions, place| actions.then(go(place)));
        let dropped = moved.then(PointerAction::Up { button: MOUSE_BUTTON_LEFT });
        self.client.perform_actions(dropped).await.unwrap_or_else(|error| panic!("{from:?} can't be dragged: {error}"));
    }

    /// The middle of an element on the page, in pixels.
    async fn middle(&self, query: &Query<'_>) -> (f64, f64) {
        let element = self.find_where(query).await;
        let script =
            "arguments[0].scrollIntoView({block: 'nearest'}); const box = arguments[0].getBoundingClientRect();
            return [box.left + box.width / 2, box.top + box.height / 2];";
        let element = serde_json::to_value(&element).expect("an element has an id");
        let place =
            self.client.execute(script, vec![element]).await.unwrap_or_else(|error| panic!("{query:?}: {error}"));
        let number = |at: usize| place[at].as_f64().expect("a place has two numbers").round();
        (number(0), number(1))
    }

    /// Waits until `condition` gives something.
    ///
    /// # Panics
    /// When it doesn't before the deadline; the panic names `what` and the page's text, and there is a picture.
    pub async fn wait<T>(&self, what: &str, condition: impl AsyncFn() -> Option<T>) -> T {
        let end = Instant::now() + DEADLINE;
        loop {
            if let Some(found) = condition().await {
                return found;
            }
            if Instant::now() > end {
                self.picture("failure").await;
                let text = page::text(&self.client).await;
                panic!("waited {} s in vain for {what}. The page says:\n{text}", DEADLINE.as_secs());
            }
            tokio::time::sleep(PACE).await;
        }
    }

    /// Waits until the text of the element that the query names contains `text`.
    ///
    /// # Panics
    /// When it doesn't before the deadline.
    pub async fn wait_for_text(&self, query: &Query<'_>, text: &str) {
        self.wait(&format!("“{text}” in {query:?}"), async || {
            for element in self.look(query).await {
                if element.text().await.is_ok_and(|found| found.contains(text)) {
                    return Some(());
                }
            }
            None
        })
        .await;
    }

    /// Keeps a picture of the window as `target/window-screenshots/<name>.png`.
    pub async fn picture(&self, name: &str) {
        let path = self.pictures.join(format!("{name}.png"));
        // What the page holds by now is on the screen two frames later.
        let painted = "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done()))";
        let _ = self.client.execute_async(painted, Vec::new()).await;
        match self.client.screenshot().await {
            Ok(image) => std::fs::write(&path, image).expect("the target folder can be written"),
            Err(error) => notice(&format!("no picture {}: {error}", path.display())),
        }
    }

    /// Kills the process that the page lives in, and waits until the program has loaded the page again.
    ///
    /// # Panics
    /// When there is no such process, or no page afterwards.
    pub async fn kill_page(&self) {
        let pages = || self.driver.programs().into_iter().flat_map(processes::pages_of).collect::<Vec<_>>();
        let before = pages();
        assert!(!before.is_empty(), "the program has no page");
        for page in &before {
            processes::kill(*page);
        }
        let end = Instant::now() + DEADLINE;
        let is_back = async || {
            let is_new = pages().iter().any(|page| !before.contains(page));
            is_new
                && self
                    .client
                    .execute("return document.readyState === 'complete'", Vec::new())
                    .await
                    .is_ok_and(|it| it == true)
        };
        while !is_back().await {
            assert!(Instant::now() < end, "the page was not loaded again");
            tokio::time::sleep(PACE).await;
        }
    }

    /// Processor time that the program and its pages have used so far.
    pub fn processor_time(&self) -> Duration {
        self.driver.programs().into_iter().flat_map(processes::family).map(processes::processor_time).sum()
    }

    /// What the page's process holds in memory, in MB (10⁶ bytes).
    pub fn page_memory(&self) -> f64 {
        self.driver.programs().into_iter().flat_map(processes::pages_of).map(processes::memory).sum()
    }

    /// Ends the program, and waits until it has ended: it has let go of its folders then.
    ///
    /// # Panics
    /// When it doesn't end.
    pub async fn close(self) {
        let programs = self.driver.programs();
        self.client.close().await.unwrap_or_else(|error| panic!("the window didn't close: {error}"));
        let end = Instant::now() + DEADLINE;
        while programs.iter().any(|program| processes::is_running(*program)) {
            assert!(Instant::now() < end, "the program didn't end");
            tokio::time::sleep(PACE).await;
        }
    }
}

/// What is looked for on the page.
#[derive(Clone, Copy, Debug, Default)]
pub struct Query<'a> {
    /// The ARIA role, explicit or by the element's kind.
    pub role: &'a str,
    /// The accessible name, whole but for its case; absent: any.
    pub name: Option<&'a str>,
    /// Part of the accessible name or the text.
    pub containing: Option<&'a str>,
    /// The name of a region, dialog or other landmark that it must be in.
    pub within: Option<&'a str>,
    /// Only elements that are neither disabled nor `aria-disabled`.
    pub enabled: bool,
}

fn notice(text: &str) {
    // Straight to the stream: a test's output is kept back when it passes.
    let _ = std::io::Write::write_all(&mut std::io::stderr(), format!("{text}\n").as_bytes());
}

/// A fresh data and configuration folder.
pub struct Folders(tempfile::TempDir);

impl Default for Folders {
    fn default() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder can be made"))
    }
}

impl Folders {
    /// The arguments that name them.
    pub fn arguments(&self) -> Vec<String> {
        let folder = |name: &str| self.path().join(name).to_string_lossy().into_owned();
        vec!["--data-dir".into(), folder("data"), "--config-dir".into(), folder("config")]
    }

    /// Where they are.
    pub fn path(&self) -> &Path {
        self.0.path()
    }
}
