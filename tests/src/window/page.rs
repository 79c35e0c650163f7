//! Looking at the page as assistive technology does: by role and accessible name.

use fantoccini::Client;
use fantoccini::elements::{Element, ElementRef};
use fantoccini::error::CmdError;
use serde_json::{Value, json};

use super::Query;

/// How `WebDriver` marks an element in JSON (W3C recommendation, 12.1).
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// Finds visible elements by role and name. The part of the accessible-name computation that this page needs.
const LOOK: &str = include_str!("look.js");

/// How often the page is asked again when it was drawn anew meanwhile.
const ASKED_AGAIN: usize = 20;

pub(super) async fn look(client: &Client, query: &Query<'_>) -> Result<Vec<Element>, CmdError> {
    let wanted = json!({
        "role": query.role,
        "name": query.name,
        "containing": query.containing,
        "within": query.within,
        "enabled": query.enabled,
    });
    let mut found = client.execute(LOOK, vec![wanted.clone()]).await;
    // What was found may be drawn anew before the driver has made handles of it; then the page is asked again.
    for _ in 0..ASKED_AGAIN {
        if !found.as_ref().is_err_and(CmdError::is_stale_element_reference) {
            break;
        }
        found = client.execute(LOOK, vec![wanted.clone()]).await;
    }
    let found = found?;
    let ids = found.as_array().into_iter().flatten().filter_map(|element| element.get(ELEMENT)?.as_str());
    Ok(ids.map(|id| Element::from_element_id(client.clone(), ElementRef::from(id.to_owned()))).collect())
}

/// All that can be read, for messages.
pub(super) async fn text(client: &Client) -> String {
    let text = client.execute("return document.body ? document.body.innerText : '(no page)'", Vec::new()).await;
    text.as_ref().ok().and_then(Value::as_str).unwrap_or("(the page can't be asked)").to_owned()
}
