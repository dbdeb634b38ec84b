//! `card`: what an agent is and can do.

use protocol_core::{client::Card, json::Json};

use super::{
    agent::fetch_card,
    clean::{line, lines},
    order::Order,
    show,
    trouble::{End, Trouble},
};
use crate::board::say;

pub(super) async fn show(order: &Order) -> Result<End, Trouble> {
    let body = fetch_card(order).await?;
    let card = Card::read(&body).map_err(Trouble::unreadable)?;
    if order.is_json {
        say(format_args!("{}", show::in_one_line(card.raw)));
        return Ok(End::Done);
    }
    let version = card.version.map_or(String::new(), |version| format!(" {}", line(&version)));
    say(format_args!("{}{version}", line(&card.name)));
    if let Some(description) = card.description {
        say(format_args!("{}", lines(&description)));
    }
    for skill in card.skills() {
        let name = skill.id.or(skill.name);
        say(format_args!("\n  {}", name.map_or(String::new(), |name| line(&name).to_string())));
        if let Some(description) = skill.description {
            say(format_args!("      {}", line(&description)));
        }
        for example in skill.examples() {
            say(format_args!("      > {}", line(&example)));
        }
    }
    say(format_args!(""));
    for interface in card.interfaces() {
        let version = interface.version.map_or("?".to_owned(), |version| line(&version).to_string());
        let binding = interface.binding.map_or("JSONRPC".to_owned(), |binding| line(&binding).to_string());
        say(format_args!("at {} {binding}, A2A {version}", line(&interface.url)));
    }
    let schemes =
        card.schemes().map(|(name, scheme)| format!("{}{}", line(&name), kind_of(scheme))).collect::<Vec<_>>();
    match schemes.as_slice() {
        [] => say(format_args!("open to everybody, as far as the card says")),
        schemes => say(format_args!("says who one is by {}", schemes.join(" or "))),
    }
    match card.place(order.version) {
        Some(place) => say(format_args!(
            "asked from here in A2A {}{}",
            place.version.name(),
            if card.is_streaming { ", and followed live" } else { "" }
        )),
        None => say(format_args!("no interface is one that can be asked from here")),
    }
    Ok(End::Done)
}

/// The scheme of HTTP, if the way to say who one is says so in either of its forms.
fn kind_of(scheme: Json<'_>) -> String {
    let inner = scheme.member("httpAuthSecurityScheme").unwrap_or(scheme);
    let name = inner.member("scheme").and_then(Json::text);
    name.map_or(String::new(), |name| format!(" ({})", line(&name)))
}
