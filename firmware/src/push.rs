//! Push notifications on their way out: takes what is due, calls the webhook, tells how it went.
//!
//! What is due, in which order and when again is for [`Node`] to know; this is the way from there to a socket. A body is
//! read from the log twice, once to know its length and its digest, and once to be sent: it is never in memory as a whole.

#[cfg(test)]
mod tests;

use core::fmt::Write as _;

use heapless::String;
use protocol_core::{
    Node, Reply,
    json::Sink,
    push::{Delivery, Outcome, Rules, SHARED_KEY, Secret, Url},
    time::Millis,
};
use sha2::{Digest as _, Sha256};

use crate::{
    http::{Broken, Source},
    outbound::{Answer, Client, Content, Failure, Field, Network, Request, Rooms},
    signing::{self, Claims, Seal, Signer},
};

/// How long a webhook may take, from its name to its answer. A handshake alone takes seconds on a small chip.
const PATIENCE: Millis = Millis(20_000);

/// What those who send have in common.
pub struct Post<'p, 's, N> {
    /// Knows what is due.
    pub node: &'p Node<'s>,
    /// The way out.
    pub network: &'p N,
    /// Whom the owner lets it call.
    pub rules: &'p Rules<'p>,
    /// Whose certificates are trusted: X.509, DER.
    pub roots: &'p [&'p [u8]],
    /// Signs for the device.
    pub signer: Option<&'p Signer>,
    /// Where the device is to be found, if that was configured.
    pub issuer: Option<&'p str>,
}

/// What became of one attempt, for whoever reads the log. No secrets.
#[derive(Clone, Copy, Debug)]
pub struct Attempt<'a> {
    /// The host that was called.
    pub host: &'a str,
    /// The event, or nothing where the webhook was asked if it is meant.
    pub event: Option<&'a str>,
    /// The HTTP status, or why that is none to speak of.
    pub result: Result<u16, Miss>,
    /// What it came to.
    pub outcome: Outcome,
}

/// Why an attempt came to nothing, whatever the status was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Miss {
    /// There was no answer.
    Failure(Failure),
    /// It was asked if it is meant, and did not repeat the token.
    NotMeant,
}

impl Miss {
    /// What happened, in words that continue "the receiver was not called: ".
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Failure(failure) => failure.as_str(),
            Self::NotMeant => "it did not repeat the validationToken",
        }
    }
}

impl From<Failure> for Miss {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

impl<'s, N: Network> Post<'_, 's, N> {
    /// Sends what is due, one after the other. `sender` is a number that no other one has; its memory is `rooms`.
    ///
    /// # Cancellation
    /// May be dropped at any time. What was being sent then is sent again.
    pub async fn run(&self, sender: usize, rooms: &mut Rooms<'_>, tell: impl Fn(&Attempt<'_>)) -> ! {
        loop {
            self.network.ready().await;
            let delivery = self.node.next_delivery(sender).await;
            let outcome = self.deliver(sender, &delivery, rooms, &tell).await;
            delivery.done(outcome);
        }
    }

    async fn deliver(
        &self,
        sender: usize,
        delivery: &Delivery<'_, 's>,
        rooms: &mut Rooms<'_>,
        tell: &impl Fn(&Attempt<'_>),
    ) -> Outcome {
        // Deleted meanwhile: nobody waits for what comes of it.
        let Some(text) = delivery.url() else { return Outcome::Refused };
        let Ok(url) = Url::parse(&text) else { return Outcome::Refused };
        let fill_random = |bytes: &mut [u8]| self.node.fill_random(bytes);
        let client = Client {
            network: self.network,
            place: sender,
            rules: self.rules,
            roots: self.roots,
            now: self.node.wall_time(),
            fill_random: &fill_random,
        };
        let id = delivery.id();
        let (event, result) = if delivery.is_challenge() {
            (None, self.challenge(&client, &url, rooms).await)
        } else {
            (Some(&*id), self.notify(&client, delivery, &id, &text, &url, rooms).await)
        };
        let outcome = judge(&result);
        tell(&Attempt { host: url.host, event, result: result.map(|answer| answer.status), outcome });
        outcome
    }

    /// Asks a webhook whether it is meant: it has to repeat what only we know.
    async fn challenge(&self, client: &Client<'_, N>, url: &Url<'_>, rooms: &mut Rooms<'_>) -> Result<Answer, Miss> {
        let mut chance = [0; 16];
        self.node.fill_random(&mut chance);
        let mut token = String::<32>::new();
        for byte in chance {
            // cannot fail: two digits each.
            let _ = write!(token.as_mut_view(), "{byte:02x}");
        }
        let request = Request { url, query: Some(("validationToken", &token)), fields: &[], content: None };
        // Room for the token and the line break that many put behind it.
        let mut said = [0; 40];
        let answer = client.call(rooms, &request, &|| None::<Body<'_, '_>>, &mut said, PATIENCE).await?;
        let said = said.get(..answer.body_bytes).unwrap_or_default().trim_ascii();
        if is_good(answer.status) && (!answer.is_whole || said != token.as_bytes()) {
            return Err(Miss::NotMeant);
        }
        Ok(answer)
    }

    /// Sends an event. Secrets are read where the head is written, and never kept.
    async fn notify(
        &self,
        client: &Client<'_, N>,
        delivery: &Delivery<'_, 's>,
        jti: &str,
        audience: &str,
        url: &Url<'_>,
        rooms: &mut Rooms<'_>,
    ) -> Result<Answer, Miss> {
        let (bytes, body_digest) = measure(delivery, rooms.pieces).await.ok_or(Failure::Broken)?;
        let proof = Proof::of(delivery);
        let task = delivery.task_id().unwrap_or_default();
        let claims = Claims { iat: client.now, jti, task: &task, audience, body_digest: &body_digest };
        let seal = self.seal(delivery, proof, &claims);
        if proof == Proof::Shared && seal.is_none() {
            return Err(Failure::Refused("is to be signed, and this device was built without").into());
        }

        let show = |secret, out: &mut dyn Sink| out.put(&delivery.secret(secret).unwrap_or_default());
        let token = |out: &mut dyn Sink| show(Secret::Token, out);
        let signature = |out: &mut dyn Sink| _ = seal.as_ref().map(|seal| seal.write_token(out, &claims));
        let authorization = |out: &mut dyn Sink| {
            if proof == Proof::Shown {
                show(Secret::Scheme, out);
                out.put(" ");
                show(Secret::Credentials, out);
            } else {
                out.put("Bearer ");
                signature(out);
            }
        };
        // Each attempt is a span of its own.
        let parent = delivery.trace().map(|trace| {
            let mut span = [0; 8];
            self.node.fill_random(&mut span);
            trace.parent(span)
        });
        let traceparent = |out: &mut dyn Sink| out.put(parent.as_deref().unwrap_or_default());
        let mut fields = heapless::Vec::<Field<'_>, 4>::new();
        // cannot fail: there are four, and room for four.
        if parent.is_some() {
            let _ = fields.push(Field { name: "traceparent", value: &traceparent });
        }
        if delivery.secret(Secret::Token).is_some() {
            let _ = fields.push(Field { name: "X-A2A-Notification-Token", value: &token });
        }
        if seal.is_some() {
            let _ = fields.push(Field { name: "X-A2A-Notification-Signature", value: &signature });
        }
        if proof == Proof::Shown || proof == Proof::Vouched && seal.is_some() {
            let _ = fields.push(Field { name: "Authorization", value: &authorization });
        }
        let content = Content { media_type: delivery.content_type(), bytes };
        let request = Request { url, query: None, fields: &fields, content: Some(content) };
        Ok(client.call(rooms, &request, &|| delivery.body().map(Body), &mut [], PATIENCE).await?)
    }

    /// Says who sent it, if there is somebody who can.
    fn seal(&self, delivery: &Delivery<'_, 's>, proof: Proof, claims: &Claims<'_>) -> Option<Seal<'_>> {
        if proof == Proof::Shared {
            let key = delivery.secret(Secret::Credentials)?;
            signing::seal_shared(key.as_bytes(), self.issuer, claims)
        } else {
            self.signer?.seal(claims)
        }
    }
}

/// How we say who we are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Proof {
    /// We don't.
    None,
    /// With credentials that the client gave us.
    Shown,
    /// With a token that we have signed.
    Vouched,
    /// With a token that is signed with what the client gave us; it is never sent.
    Shared,
}

impl Proof {
    #[inline(never)]
    fn of(delivery: &Delivery<'_, '_>) -> Self {
        let scheme = delivery.secret(Secret::Scheme).unwrap_or_default();
        let is = |name: &str| scheme.eq_ignore_ascii_case(name);
        match delivery.secret(Secret::Credentials) {
            Some(_) if is(SHARED_KEY) => Self::Shared,
            Some(_) => Self::Shown,
            None if is("Bearer") || is("JWT") => Self::Vouched,
            None => Self::None,
        }
    }
}

/// The length of a body, and its digest.
async fn measure(delivery: &Delivery<'_, '_>, buffer: &mut [u8]) -> Option<(u64, [u8; 32])> {
    let mut body = delivery.body()?;
    let mut digest = Sha256::new();
    let mut bytes = 0u64;
    loop {
        let filled = body.fill(buffer).await.ok()?;
        let Some(piece @ [_, ..]) = buffer.get(..filled) else { break };
        digest.update(piece);
        bytes = bytes.saturating_add(filled as u64);
    }
    Some((bytes, digest.finalize().into()))
}

/// What an answer comes to.
fn judge(result: &Result<Answer, Miss>) -> Outcome {
    match result {
        Ok(answer) if is_good(answer.status) => Outcome::Delivered,
        // Gone: it will not come back.
        Ok(Answer { status: 410, .. }) => Outcome::Refused,
        Ok(answer) => {
            let asked = answer.retry_after_secs.map(|seconds| Millis(u64::from(seconds).saturating_mul(1000)));
            Outcome::Failed { retry_after: asked }
        }
        Err(Miss::Failure(failure)) if !failure.is_passing() => Outcome::Refused,
        Err(_) => Outcome::Failed { retry_after: None },
    }
}

fn is_good(status: u16) -> bool {
    (200..300).contains(&status)
}

/// What is sent, as the client wants it.
struct Body<'n, 's>(Reply<'n, 's>);

impl Source for Body<'_, '_> {
    async fn fill(&mut self, out: &mut [u8]) -> Result<usize, Broken> {
        self.0.fill(out).await.map_err(|protocol_core::Broken| Broken)
    }
}
