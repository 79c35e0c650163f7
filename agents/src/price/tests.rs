use super::*;

fn spending(model: &str, seller: Seller, usage: Usage) -> Spending {
    Spending { model: model.to_owned(), seller, size: PromptSize::of(&usage), requests: 1, usage }
}

fn usage(input: u64, cache_read: u64, cache_write: u64, output: u64) -> Usage {
    Usage { input, cache_read, cache_write, output }
}

fn built_in() -> PriceList {
    list(Ok(None), "prices.json")
}

#[test]
fn the_built_in_list_is_whole_and_dated() {
    let list = built_in();
    assert!(list.warnings.is_empty() && list.prices.len() > 20);
    for price in &list.prices {
        assert!(!price.date.is_empty() && price.source.contains('.'), "{price:?}");
        assert!(price.rates.cache_read < price.rates.input && price.rates.input < price.rates.output, "{price:?}");
        assert_eq!(find(&list, &price.model), Some(price));
    }
}

#[test]
fn amounts_are_exact() {
    let cost = |model, tokens| Cost::of(&[spending(model, Seller::Provider, tokens)], &built_in()).picodollars;
    assert_eq!(cost("claude-sonnet-4-5", usage(1, 0, 0, 0)), 3_000_000);
    assert_eq!(cost("gpt-5-nano", usage(0, 3, 0, 0)), 15_000);
    let all = usage(1_000, 90_000, 2_000, 500);
    // 3 + 27 + 7.5 + 7.5 thousandths of a dollar.
    assert_eq!(cost("claude-sonnet-4-5", all), 45_000_000_000);
    assert_eq!(amount("x", &serde_json::json!(0.075)), Ok(75_000));
    assert_eq!(amount("x", &serde_json::json!("12.5")), Ok(12_500_000));
    assert_eq!(amount("x", &serde_json::json!(0)), Ok(0));
    for wrong in
        [serde_json::json!(-1), serde_json::json!("1e3"), serde_json::json!("0.0000001"), serde_json::json!(null)]
    {
        assert!(amount("x", &wrong).is_err(), "{wrong}");
    }
}

#[test]
fn a_longer_prompt_costs_what_is_listed_for_it_or_an_unknown_amount() {
    let cost = |model, tokens| Cost::of(&[spending(model, Seller::Provider, tokens)], &built_in());
    assert_eq!(cost("claude-haiku-5-5", usage(100_000, 0, 0, 0)).picodollars, 10_000_000_000);
    assert_eq!(cost("claude-haiku-5-5", usage(100_001, 0, 0, 0)).picodollars, 50_000_500_000);
    assert_eq!(cost("gpt-6-sol", usage(272_001, 0, 0, 0)), Cost { unknown: 272_001, ..Cost::default() });
}

#[test]
fn an_unknown_model_is_never_free_unless_it_runs_here() {
    let cost = |seller| Cost::of(&[spending("some-model", seller, usage(7, 0, 0, 3))], &built_in());
    assert_eq!(cost(Seller::Provider), Cost { unknown: 10, ..Cost::default() });
    assert_eq!(cost(Seller::ThisMachine), Cost { free: 10, ..Cost::default() });
    assert_eq!(cost(Seller::Demo), Cost { free: 10, ..Cost::default() });
    // A gateway on this machine passes it on.
    let gateway = Cost::of(&[spending("claude-opus-5", Seller::ThisMachine, usage(1, 0, 0, 0))], &built_in());
    assert_eq!(gateway.picodollars, 5_000_000);
}

#[test]
fn ids_with_dates_and_resellers_find_their_price() {
    let list = built_in();
    for id in
        ["claude-sonnet-4-5-20250929", "anthropic/claude-sonnet-4.5", "claude-sonnet-4-5-latest", "Claude-Sonnet-4-5"]
    {
        assert_eq!(find(&list, id).map(|price| price.model.as_str()), Some("claude-sonnet-4-5"), "{id}");
    }
    assert_eq!(find(&list, "gpt-5-2025-08-07").unwrap().model, "gpt-5");
    for id in ["claude-sonnet-4-5-1", "gpt-5-turbo", "", "-20250101", "é-20250929"] {
        assert!(find(&list, id).is_none(), "{id}");
    }
}

#[test]
fn the_persons_file_wins_entry_by_entry_and_a_bad_entry_is_left_out() {
    let text = r#"{
        "gpt-5": {"date": "2026-11-01", "source": "invoice", "input": 1, "output": "2.5"},
        "mine": {"input": 0.5, "output": 1},
        "claude-opus-5": {"input": "five", "output": 1},
        "gpt-5-mini": {"input": 1, "output": 1, "ouput": 1},
        "gpt-5-nano": {"date": "yesterday", "input": 1, "output": 1}
    }"#;
    let list = list(Ok(Some(text)), "/c/prices.json");
    let rates = find(&list, "gpt-5").unwrap().rates;
    assert_eq!(
        (rates.input, rates.cache_read, rates.cache_write, rates.output),
        (1_000_000, 1_000_000, 1_000_000, 2_500_000)
    );
    assert!(find(&list, "mine").is_some());
    assert_eq!(list.warnings.len(), 3, "{:?}", list.warnings);
    for bad in ["claude-opus-5", "gpt-5-mini", "gpt-5-nano"] {
        assert!(find(&list, bad).is_none(), "{bad}");
        assert!(list.warnings.iter().any(|warning| warning.contains(&format!("{bad:?}"))), "{:?}", list.warnings);
    }
    // A file that can't be read leaves the built-in prices.
    for text in [Ok(Some("{")), Ok(Some("[]")), Err("it is no regular file")] {
        let list = super::list(text, "f");
        assert!(list.warnings.len() == 1 && find(&list, "gpt-5").is_some());
    }
}

#[test]
fn amounts_are_shown_as_people_read_them() {
    let shown = |picodollars, unknown, free| Cost { picodollars, unknown, free }.to_string();
    assert_eq!(shown(0, 0, 0), "");
    assert_eq!(shown(0, 0, 9), "free");
    assert_eq!(shown(0, 9, 9), "cost unknown");
    assert_eq!(shown(1, 0, 0), "$0.0001");
    assert_eq!(shown(45_000_000_000, 0, 5), "$0.0450");
    assert_eq!(shown(12_345_600_000_000, 7, 0), "$12.35 and more");
}
