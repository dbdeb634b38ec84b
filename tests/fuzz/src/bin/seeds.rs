//! Makes the corpora to start from: `seeds FOLDER` writes a folder for each target, and a dictionary for each language.
//!
//! Texts come from the golden files, so nothing is stored twice.

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
};

use mote_fuzz::{
    input::{self, BETWEEN, METHODS},
    mutate::NAMES,
};
use mote_tests::{corpus, random::Random};
use serde_json::Value;

fn main() -> io::Result<()> {
    let folder = PathBuf::from(std::env::args().nth(1).expect("usage: seeds FOLDER"));
    let requests = corpus::requests();
    let conversations = corpus::conversations();

    put(&folder, "json", requests.iter().map(|body| body.clone().into_bytes()))?;

    let pieces = |requests: &[corpus::Request]| requests.iter().map(input::write).collect::<Vec<_>>().join(&BETWEEN);
    let alone = requests.iter().map(|body| corpus::Request { body: body.clone(), ..Default::default() });
    put(
        &folder,
        "call",
        conversations.iter().map(|requests| pieces(requests)).chain(alone.map(|request| input::write(&request))),
    )?;

    let calls = |requests: &[corpus::Request]| {
        let calls = requests.iter().filter_map(|request| call(&request.body));
        calls.collect::<Vec<_>>().join(&BETWEEN)
    };
    put(
        &folder,
        "dialect",
        conversations.iter().map(|requests| calls(requests)).chain(requests.iter().filter_map(|body| call(body))),
    )?;

    // What these read is no text: any bytes are operations.
    let mut random = Random::new(1);
    for target in ["engine", "log"] {
        let inputs = (0..64).map(|number| (0..8 * (number + 1)).map(|_| random.number() as u8).collect());
        put(&folder, target, inputs)?;
    }

    let mut words: BTreeSet<String> = NAMES.iter().map(|name| (*name).to_owned()).collect();
    for body in &requests {
        if let Ok(value) = serde_json::from_str(body) {
            strings(&value, &mut words);
        }
    }
    fs::write(folder.join("json.dict"), dictionary(words.iter().map(|word| format!("\"{word}\""))))
}

/// The number of the method and the parameters.
fn call(body: &str) -> Option<Vec<u8>> {
    let request: Value = serde_json::from_str(body).ok()?;
    let method = METHODS.iter().position(|(_, name)| request["method"] == **name)?;
    let mut call = vec![method as u8];
    call.extend_from_slice(request.get("params")?.to_string().as_bytes());
    Some(call)
}

fn strings(value: &Value, words: &mut BTreeSet<String>) {
    match value {
        Value::String(text) if text.len() <= 40 => drop(words.insert(text.clone())),
        Value::Array(items) => items.iter().for_each(|item| strings(item, words)),
        Value::Object(members) => members.iter().for_each(|(name, member)| {
            words.insert(name.clone());
            strings(member, words);
        }),
        _ => {}
    }
}

fn put(folder: &Path, target: &str, inputs: impl Iterator<Item = Vec<u8>>) -> io::Result<()> {
    let folder = folder.join(target);
    fs::create_dir_all(&folder)?;
    let inputs: BTreeSet<Vec<u8>> = inputs.filter(|input| !input.is_empty()).collect();
    for (number, input) in inputs.iter().enumerate() {
        fs::write(folder.join(format!("{number:04}")), input)?;
    }
    println!("{target}: {} seeds", inputs.len());
    Ok(())
}

/// In libFuzzer's form: one quoted word a line.
fn dictionary(words: impl Iterator<Item = String>) -> String {
    let quote = |byte: u8| match byte {
        b'"' | b'\\' => format!("\\{}", char::from(byte)),
        b' '..=b'~' => char::from(byte).to_string(),
        _ => format!("\\x{byte:02x}"),
    };
    words.map(|word| format!("\"{}\"\n", word.bytes().map(quote).collect::<String>())).collect()
}
