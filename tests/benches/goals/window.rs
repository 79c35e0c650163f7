//! The real window, on a display of its own and without a graphics card, measured by the page's own clock.

use std::io::Write as _;
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant, SystemTime};

use offshoot_agents::clock::{Clock, SystemClock};
use offshoot_agents::log::Log;
use offshoot_protocol::{Event, EventBody, SessionId};
use offshoot_tests::window::{Desktop, Folders, Query, Scheme, Window};
use offshoot_tests::{Repository, program};
use serde_json::{Value, json};

use crate::fork::texts;
use crate::measure::{middle, ms};
use crate::provider::{self, Arrival, Provider};
use crate::report::Report;

/// What is sent into the page. Its first argument says what is measured.
const MEASURE: &str = include_str!("../../../ui/tools/measure.js");

/// Messages of the long session.
const MESSAGES: u32 = 10_000;
/// Agents that write at once.
const AGENTS: u32 = 20;
/// Tokens of about four characters that each writes in a second.
const PACE: u32 = 50;
/// How long they are looked at, in milliseconds.
const LOOK: u64 = 8_000;
/// Lines of the diff.
const LINES: usize = 10_000;

pub(crate) fn run(report: &mut Report) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let Some(desktop) = Desktop::start() else {
            report.missing("all of it", "there is no Xvfb or no WebKitWebDriver here");
            return;
        };
        let place = Place::new();
        let long = place.remember();
        start(report, &desktop, &place).await;
        let window = desktop.open_on(&place.folders, Scheme::Light, Some(place.repository.path())).await;
        window.find("textbox", "Message").await;
        rest(report, "nothing going on", &window, Some(1.0)).await;
        long_session(report, &window, &long).await;
        diff(report, &window).await;
        streaming(report, &window, &place).await;
        window.close().await;
    });
}

/// From the start of the program to something useful on the screen.
async fn start(report: &mut Report, desktop: &Desktop, place: &Place) {
    let mut took = Vec::new();
    for _ in 0..5 {
        let began = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
        let window = desktop.open_on(&place.folders, Scheme::Light, Some(place.repository.path())).await;
        let paint = figures(&window, &[json!("paint")]).await;
        took.push(paint["first"].as_f64().unwrap() - ms(began));
        window.close().await;
    }
    // The driver that stands between takes some of it.
    report.at_most("start → first paint, with the driver's own start", middle(took), "ms", 1000.0);
}

async fn long_session(report: &mut Report, window: &Window, title: &str) {
    let short = title_of(window).await;
    let mut opened = Vec::new();
    for _ in 0..5 {
        let to = |title: &str, text: &str| {
            [json!("click"), json!("button"), json!(title), json!("Conversation"), json!(text)]
        };
        opened.push(painted(window, &to(title, "the last of many")).await);
        painted(window, &to(&short, "Hello.")).await;
    }
    report.at_most(format!("open a session of {MESSAGES} messages → first paint"), middle(opened), "ms", 200.0);
    painted(window, &[json!("click"), json!("button"), json!(title), json!("Conversation"), json!("the last of many")])
        .await;
    let scrolled = figures(window, &[json!("scroll"), json!(60)]).await;
    report.note("scroll through it, a third of a page a frame", scrolled["middle"].as_f64().unwrap(), "ms");
    painted(window, &[json!("click"), json!("button"), json!(short), json!("Conversation"), json!("Hello.")]).await;
}

/// The title of the session that is open.
async fn title_of(window: &Window) -> String {
    let script = "return document.querySelector('h1').textContent";
    window.client().execute(script, Vec::new()).await.unwrap().as_str().unwrap().to_owned()
}

/// A fork writes a large file; its changes are looked at.
async fn diff(report: &mut Report, window: &Window) {
    let message = window.find("textbox", "Message").await;
    message.send_keys("/fork write the large file\u{e007}").await.unwrap();
    let fork = Query {
        role: "treeitem",
        containing: Some("write the large file"),
        within: Some("Agents"),
        ..Query::default()
    };
    window.wait_for_text(&fork, "Done").await;
    window.press_where(&Query { role: "tab", containing: Some("Review"), ..Query::default() }).await;
    let mut shown = Vec::new();
    for _ in 0..5 {
        let to = |name: &str, region: &str, text: &str| {
            [json!("click"), json!("[role=treeitem]"), json!(name), json!(region), json!(text)]
        };
        shown.push(painted(window, &to("write the large file", "Inspector", "line 12 of many")).await);
        painted(window, &to("Root", "Conversation", "Hello.")).await;
    }
    report.at_most(
        format!("open a diff of {LINES} lines → first paint, its agent selected with it"),
        middle(shown),
        "ms",
        150.0,
    );
}

async fn streaming(report: &mut Report, window: &Window, place: &Place) {
    let message = window.find("textbox", "Message").await;
    message.send_keys("Delegate to twenty.\u{e007}").await.unwrap();
    // Some of them are below what is in sight, where the driver reads no text.
    let writing = "return [...document.querySelectorAll('[role=treeitem]')].filter((row) => row.textContent.includes('Writing')).length";
    window
        .wait("all of them to write", async || {
            let count = window.client().execute(writing, Vec::new()).await.ok()?.as_u64()?;
            (count >= u64::from(AGENTS)).then_some(())
        })
        .await;
    let to = |part: &str| {
        [
            json!("click"),
            json!("[role=treeitem]"),
            json!(format!("{part},")),
            json!("Conversation"),
            json!("are read when they are asked for"),
        ]
    };
    painted(window, &to("part 3")).await;
    let (before, began) = (window.processor_time(), Instant::now());
    let frames = figures(window, &[json!("frames"), json!(LOOK)]).await;
    let used = window.processor_time().saturating_sub(before).as_secs_f64() / began.elapsed().as_secs_f64();
    let of = |figure: &str| frames[figure].as_f64().unwrap();
    let name = format!("{AGENTS} agents, {PACE} tokens/s each");
    report.at_most(format!("{name}: script per frame, p95"), of("scriptP95"), "ms", 16.0);
    report.at_most(format!("{name}: frames over 50 ms"), of("late"), "of all", 0.0);
    report.note(format!("{name}: frames in all"), of("frames"), "frames");
    report.note(format!("{name}: between two frames, middle"), of("gapMiddle"), "ms");
    report.at_most(format!("{name}: program and page"), used * 100.0, "% of a core", 60.0);
    let typed = figures(window, &[json!("type"), json!(60)]).await;
    report.at_most(format!("{name}: a key's script"), typed["script"].as_f64().unwrap(), "ms", 16.0);
    report.note(format!("{name}: a key → its frame"), typed["frame"].as_f64().unwrap(), "ms");
    let mut switched = Vec::new();
    for part in ["part 5", "part 9", "part 11", "part 5", "part 9"] {
        switched.push(painted(window, &to(part)).await);
    }
    report.at_most(format!("{name}: switch between two agents"), middle(switched), "ms", 50.0);

    let first = window.page_memory();
    // As much as they would write in an hour, as fast as it can be taken.
    place.hurry(Duration::from_secs(3600));
    let root = Query { role: "treeitem", containing: Some("Root: "), within: Some("Agents"), ..Query::default() };
    window.wait_for_text(&root, "Idle").await;
    report.at_most(
        format!("{name}: memory of the page after an hour's text, against the first minute's"),
        window.page_memory() / first,
        "×",
        1.5,
    );
    report.note("memory of the page then", window.page_memory(), "MB");
    rest(report, "all done", window, Some(1.0)).await;
}

/// How much of a core is used while nobody does anything.
async fn rest(report: &mut Report, when: &str, window: &Window, limit: Option<f64>) {
    // What was begun before comes to its end.
    tokio::time::sleep(Duration::from_secs(3)).await;
    let (before, began) = (window.processor_time(), Instant::now());
    tokio::time::sleep(Duration::from_secs(5)).await;
    let used = window.processor_time().saturating_sub(before).as_secs_f64() / began.elapsed().as_secs_f64();
    report.within(format!("program and page at rest, {when}"), used * 100.0, "% of a core", limit);
}

async fn painted(window: &Window, wish: &[Value]) -> f64 {
    figures(window, wish).await["painted"].as_f64().unwrap()
}

async fn figures(window: &Window, wish: &[Value]) -> Value {
    let mut answer = window.client().execute_async(MEASURE, wish.to_vec()).await.unwrap();
    assert!(answer["problem"].is_null(), "{wish:?}: {}", answer["problem"]);
    answer["figures"].take()
}

/// A project, a data folder, and a provider whose answers follow from what it is asked.
struct Place {
    repository: Repository,
    folders: Folders,
    url: String,
    /// What each agent writes in all, in tokens.
    tokens: Arc<AtomicU32>,
}

impl Place {
    fn new() -> Self {
        let repository = Repository::with(&[("README.md", "hello\n")]);
        let folders = Folders::default();
        let provider = Provider::start();
        let url = provider.url();
        let config = folders.path().join("config");
        std::fs::create_dir_all(&config).unwrap();
        let settings = json!({
            "compactAt": 0, "provider": "anthropic", "baseUrl": url, "model": "m", "notifications": false,
            "runningLimit": AGENTS + 1, "permissions": {"allow": ["Write", "Read"]},
        });
        std::fs::write(config.join("settings.json"), settings.to_string()).unwrap();
        // More than is looked at: the end comes with `hurry`.
        let tokens = Arc::new(AtomicU32::new(u32::MAX));
        let shared = tokens.clone();
        std::thread::spawn(move || {
            loop {
                let (arrival, tokens) = (provider.next_within(Duration::from_secs(600)), shared.clone());
                let Some(arrival) = arrival else { return };
                std::thread::spawn(move || answer(arrival, &tokens));
            }
        });
        Self { repository, folders, url, tokens }
    }

    /// Lets the agents write all that they would in this time, and end.
    fn hurry(&self, time: Duration) {
        let seconds = u32::try_from(time.as_secs()).unwrap();
        self.tokens.store(PACE * seconds, Ordering::Relaxed);
    }

    /// A short session, and before it a long one, whose title is answered.
    fn remember(&self) -> String {
        for _ in 0..2 {
            let mut program = Command::new(program::offshoot());
            program.args(["exec", "Hello.", "--base-url", &self.url]).args(self.folders.arguments());
            program.current_dir(self.repository.path()).stdout(Stdio::null()).stderr(Stdio::null());
            assert!(program.status().unwrap().success());
        }
        let log = Log::open(&self.folders.path().join("data")).unwrap();
        let sessions = log.sessions().unwrap();
        let id: &SessionId = &sessions.last().unwrap().id;
        let events = log.events(id, 0).unwrap();
        let root = events.iter().find_map(|event| event.agent.clone()).unwrap();
        let seq = events.last().unwrap().seq;
        let fact =
            |at: u64, agent, body| Event { seq: seq + 1 + at, at: SystemClock.now(), session: id.clone(), agent, body };
        let mut facts: Vec<Event> = texts(8_000_000, MESSAGES)
            .zip(0..)
            .map(|(message, at)| {
                fact(
                    u64::from(at),
                    Some(root.clone()),
                    EventBody::MessageAppended { index: 2 + at, message, inputs: Vec::new() },
                )
            })
            .collect();
        let last = offshoot_protocol::Message {
            role: offshoot_protocol::MessageRole::Assistant,
            blocks: vec![offshoot_protocol::Block::Text {
                text: "the last of many".into(),
                origin: offshoot_protocol::Origin::Model,
            }],
        };
        let end = u64::from(MESSAGES);
        facts.push(fact(
            end,
            Some(root),
            EventBody::MessageAppended { index: 2 + MESSAGES, message: last, inputs: Vec::new() },
        ));
        facts.push(fact(end + 1, None, EventBody::SessionRenamed { title: "The long one".into() }));
        log.append(facts, |written| drop(written.unwrap()));
        // The short one was changed last: it is the one that opens.
        let short = &sessions[0].id;
        let seq = log.events(short, 0).unwrap().last().unwrap().seq;
        let renamed = EventBody::SessionRenamed { title: "The short one".into() };
        let fact = Event { seq: seq + 1, at: SystemClock.now(), session: short.clone(), agent: None, body: renamed };
        log.append(vec![fact], |written| drop(written.unwrap()));
        log.close();
        "The long one".to_owned()
    }
}

/// Answers as the last thing that was said asks for.
fn answer(arrival: Arrival, tokens: &AtomicU32) {
    // The list of models is asked for without a body.
    let Ok(body) = serde_json::from_slice::<Value>(&arrival.body) else {
        arrival.answer(&[]);
        return;
    };
    let last = body["messages"].as_array().unwrap().last().unwrap().to_string();
    if last.contains("Delegate to twenty.") {
        let part = |at| json!({"name": "Agent", "input": {"prompt": format!("Write about part {at}."), "description": format!("part {at}"), "subagent_type": "general-purpose"}});
        arrival.answer(&(0..AGENTS).map(part).collect::<Vec<_>>());
    } else if last.contains("write the large file") {
        let content = (0..LINES).fold(String::new(), |text, at| text + &format!("line {at} of many\n"));
        arrival.answer(&[json!({"name": "Write", "input": {"file_path": "large.txt", "content": content}})]);
    } else if last.contains("Write about part") {
        write_on(arrival.into_stream(), tokens);
    } else {
        arrival.answer(&["Hello.".into()]);
    }
}

/// Writes at the pace of a model, until as much is out as there shall be, and from then on as fast as can be.
fn write_on(mut socket: TcpStream, tokens: &AtomicU32) {
    const TEXT: &str = "The stations are read when they are asked for, see `src/table.rs`.\n\n- one\n- two\n\n";
    let start = json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}});
    let head = format!("{}event: content_block_start\ndata: {start}\n\n", provider::opening());
    let letters: Vec<char> = TEXT.chars().cycle().take(TEXT.len() * 4).collect();
    let pieces: Vec<String> = letters
        .chunks(4)
        .map(|piece| {
            let delta = json!({"type": "text_delta", "text": piece.iter().collect::<String>()});
            format!(
                "event: content_block_delta\ndata: {}\n\n",
                json!({"type": "content_block_delta", "index": 0, "delta": delta})
            )
        })
        .collect();
    let stop = json!({"type": "content_block_stop", "index": 0});
    let end = format!("event: content_block_stop\ndata: {stop}\n\n{}", provider::closing("end_turn"));
    let write = |socket: &mut TcpStream, text: &str| socket.write_all(text.as_bytes());
    if write(&mut socket, &head).is_err() {
        return;
    }
    for (sent, piece) in (0..).zip(pieces.iter().cycle()) {
        let all = tokens.load(Ordering::Relaxed);
        if sent >= all || write(&mut socket, piece).is_err() {
            break;
        }
        if all == u32::MAX {
            std::thread::sleep(Duration::from_secs(1) / PACE);
        }
    }
    let _ = write(&mut socket, &end);
}
