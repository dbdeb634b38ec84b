//! The shipped agent: a sensor node, the same on every board, with the sensors and actuators that the board has.

mod command;
mod kept;
mod reading;
mod skills;
mod vocabulary;

#[cfg(test)]
mod tests;

use core::{cell::Cell, fmt};

use protocol_core::{
    Agent, Data, Done, Pause, Piece, Reference, Said, Stopped, TaskCx,
    json::Json,
    time::{Millis, UnixMillis},
};
use serde::Serialize;

pub use self::skills::{PROFILE, SKILLS};
use self::{
    command::{Bound, Command, Misfit, Place, Plan},
    kept::{Csv, Kept, Series},
    reading::{Form, Reading, Scale},
    skills::{Help, Names},
};
use crate::{
    board::{Board, Key, Position, Sensor, Trouble},
    milli::Milli,
};

/// The sensor node of a board with `SENSORS` sensors or fewer: each takes half a kilobyte, for the readings that are kept.
/// Any number of workers may run it at a time.
pub struct SensorNode<'b, B, const SENSORS: usize> {
    board: &'b B,
    channels: [Channel; SENSORS],
}

/// What the node knows about one sensor.
struct Channel {
    kept: Kept,
    /// What is added to a reading; not known before the first one.
    offset: Cell<Option<Milli>>,
}

impl<'b, B: Board, const SENSORS: usize> SensorNode<'b, B, SENSORS> {
    /// Makes a node of a board.
    ///
    /// # Panics
    /// If the board has more than `SENSORS` sensors: that is a number to change before it is built.
    pub fn new(board: &'b B) -> Self {
        assert!(board.sensors().len() <= SENSORS, "the board has too many sensors");
        Self { board, channels: [const { Channel { kept: Kept::new(), offset: Cell::new(None) } }; SENSORS] }
    }
}

impl<B: Board, const SENSORS: usize> Agent for SensorNode<'_, B, SENSORS> {
    async fn run(&self, task: &mut TaskCx<'_, '_>) -> Result<Done, Stopped> {
        let command = match self.command(task) {
            Ok(command) => command,
            Err(misfit) => return self.explain(task, misfit),
        };
        if !task.may(command.access()) {
            return task.refuse(command.access());
        }
        match command {
            Command::Read { sensor, scale } => self.read(task, sensor, scale).await,
            Command::Watch { sensor, scale, plan } => self.watch(task, sensor, scale, plan).await,
            Command::Alert { sensor, bound } => self.alert(task, sensor, bound).await,
            Command::Calibrate { sensor, reference: None } => self.ask_reference(task, sensor).await,
            Command::Calibrate { sensor, reference: Some(reference) } => self.calibrate(task, sensor, reference).await,
            Command::Report { sensor } => self.report(task, sensor).await,
            Command::Set { actuator, position } => self.set(task, actuator, position),
            Command::Reboot => {
                self.board.reboot();
                complete(task, format_args!("The device restarts."))
            }
            Command::ForgetWifi => match self.board.forget_wifi() {
                Ok(()) => complete(task, format_args!("The Wi-Fi network is forgotten.")),
                Err(trouble) => task.fail(format_args!("{trouble}")),
            },
            Command::Convert { scale } => self.convert(task, scale).await,
            Command::Again { .. } | Command::Help => reply(task, format_args!("{}", Help(self.board.sensors()))),
        }
    }
}

// What is wanted.
impl<B: Board, const SENSORS: usize> SensorNode<'_, B, SENSORS> {
    fn place(&self) -> Place<'_> {
        Place { sensors: self.board.sensors(), actuators: self.board.actuators() }
    }

    /// What the message asks for; what an earlier one asked for, if this one only answers or repeats that.
    fn command(&self, task: &TaskCx<'_, '_>) -> Result<Command, Misfit> {
        let place = self.place();
        let said = task.said();
        let understood = place.understand(&said);
        match understood {
            Ok(Command::Again { scale }) => self.earlier(task).map(|command| on(command, scale)),
            // The answer to a question is hardly ever a request.
            Ok(Command::Help | Command::Read { .. } | Command::Convert { .. }) | Err(_) => {
                match (understood, task.earlier(|said| self.request(said))) {
                    (_, Some(Command::Calibrate { sensor, reference: None })) => {
                        let reference = place.amount(&said, sensor);
                        let is_answer = reference.is_some() || !matches!(understood, Ok(Command::Read { .. }));
                        if is_answer { Ok(Command::Calibrate { sensor, reference }) } else { understood }
                    }
                    // Nor is a credential: what it is for was said before.
                    (Ok(Command::Help) | Err(_), Some(asked_for)) if task.was_asked_for_credentials() => Ok(asked_for),
                    _ => understood,
                }
            }
            Ok(_) => understood,
        }
    }

    /// What was asked for before: in this task, else in the one that it is about.
    fn earlier(&self, task: &TaskCx<'_, '_>) -> Result<Command, Misfit> {
        const NOTHING: Misfit =
            Misfit::Because("there is nothing to repeat: name a task in referenceTaskIds, or say what to do");
        if let Some(command) = task.earlier(|said| self.request(said)) {
            return Ok(command);
        }
        let reference = task.reference().ok_or(NOTHING)?;
        // A task that repeats another one has at least measured the same.
        let repeated = || {
            let reading = self.told_in(&reference)?;
            let sensor = self.board.sensors().iter().position(|sensor| sensor.name == reading.sensor)?;
            Some(Command::Read { sensor, scale: Scale::of(reading.unit) })
        };
        reference.said().and_then(|said| self.request(&said)).or_else(repeated).ok_or(NOTHING)
    }

    /// The newest reading that another task gave.
    fn told_in(&self, reference: &Reference<'_, '_>) -> Option<Reading> {
        let json = reference.json()?;
        Reading::from_json(Json::parse(json.as_bytes()).ok()?, self.board.sensors())
    }

    /// A message that asks for something by itself.
    fn request(&self, said: &Said) -> Option<Command> {
        let command = self.place().understand(said).ok()?;
        let stands_alone = !matches!(command, Command::Help | Command::Again { .. } | Command::Convert { .. });
        stands_alone.then_some(command)
    }

    fn explain(&self, task: &mut TaskCx<'_, '_>, misfit: Misfit) -> Result<Done, Stopped> {
        match misfit {
            Misfit::Sensor => {
                let names = Names(self.board.sensors().iter().map(|sensor| sensor.name));
                reply(task, format_args!("Name a sensor that is here. Sensors: {names}."))
            }
            Misfit::Actuator => {
                let names = Names(self.board.actuators().iter());
                reply(task, format_args!("Name something that can be switched here. Actuators: {names}."))
            }
            Misfit::Outside(outside) => task.reject(format_args!("Out of range: {outside}.")),
            Misfit::Because(why) => reply(task, format_args!("I did not understand: {why}.")),
        }
    }
}

/// The same command, told on another scale.
const fn on(command: Command, scale: Option<Scale>) -> Command {
    match (command, scale) {
        (Command::Read { sensor, .. }, Some(_)) => Command::Read { sensor, scale },
        (Command::Watch { sensor, plan, .. }, Some(_)) => Command::Watch { sensor, scale, plan },
        _ => command,
    }
}

// What is done.
impl<B: Board, const SENSORS: usize> SensorNode<'_, B, SENSORS> {
    async fn read(&self, task: &mut TaskCx<'_, '_>, sensor: usize, scale: Option<Scale>) -> Result<Done, Stopped> {
        match self.measure(task, sensor).await {
            Ok(reading) => give(task, told_on(reading, scale)).await.map(|()| Done::Completed),
            Err(failure) => task.fail(format_args!("{failure}")),
        }
    }

    async fn watch(
        &self,
        task: &mut TaskCx<'_, '_>,
        sensor: usize,
        scale: Option<Scale>,
        plan: Plan,
    ) -> Result<Done, Stopped> {
        let form = Form::of(task);
        if plan.lasts() > LONG && !task.takes_long() {
            return task.reject(format_args!("{TOO_MANY}"));
        }
        task.working().await?;
        let begun = task.now();
        let mut due = begun;
        for count in 1.. {
            let reading = match self.measure(task, sensor).await {
                Ok(reading) => told_on(reading, scale),
                Err(failure) => return task.fail(format_args!("{failure}")),
            };
            let is_last = plan.is_over(count, begun, task.now());
            let artifact = task.artifact(reading.sensor);
            let artifact = if count > 1 { artifact.append() } else { artifact };
            reading.send(if is_last { artifact } else { artifact.more_to_come() }, form).await?;
            if is_last {
                break;
            }
            // A node that was held up goes on from where it is: it does not make up for what it missed.
            due = due.after(plan.every).max(task.now());
            if plan.every > Millis(0) {
                task.sleep(Millis(due.0.saturating_sub(task.now().0))).await?;
            }
        }
        Ok(Done::Completed)
    }

    async fn alert(&self, task: &mut TaskCx<'_, '_>, sensor: usize, bound: Bound) -> Result<Done, Stopped> {
        if !task.takes_long() {
            return task.reject(format_args!("{TOO_MANY}"));
        }
        let Sensor { name, unit } = self.sensor(sensor);
        task.progress(format_args!("Waiting until {name} is {bound} {unit}")).await?;
        loop {
            match self.measure(task, sensor).await {
                Ok(reading) if bound.is_crossed_by(reading.value) => {
                    return give(task, reading).await.map(|()| Done::Completed);
                }
                Ok(_) => task.sleep(ALERT_EVERY).await?,
                Err(failure) => return task.fail(format_args!("{failure}")),
            }
        }
    }

    async fn ask_reference(&self, task: &mut TaskCx<'_, '_>, sensor: usize) -> Result<Done, Stopped> {
        match self.measure(task, sensor).await {
            Ok(Reading { sensor, value, unit, .. }) => task.ask(format_args!(
                "What should {sensor} read now? It reads {value} {unit}. Answer with one number in {unit}, such as {value}."
            )),
            Err(failure) => task.fail(format_args!("{failure}")),
        }
    }

    async fn calibrate(&self, task: &mut TaskCx<'_, '_>, sensor: usize, reference: Milli) -> Result<Done, Stopped> {
        let Sensor { name, unit } = self.sensor(sensor);
        let measured = match self.board.read(sensor).await {
            Ok(measured) => measured,
            Err(trouble) => return task.fail(format_args!("{}", Failure { name, trouble })),
        };
        let offset = reference.minus(measured);
        if let Err(trouble) = self.board.save(Key::calibration(sensor), &offset.0.to_le_bytes()) {
            return task.fail(format_args!("{}", Failure { name, trouble }));
        }
        if let Some(channel) = self.channels.get(sensor) {
            channel.offset.set(Some(offset));
        }
        let data =
            Data::<128>::of(&Calibration { sensor: name, offset, unit }).filter(|_| Form::of(task) != Form::Text);
        if let Some(told) = data.map(|data| task.artifact("calibration").parts(&[data.piece()])) {
            told.await?;
        }
        complete(task, format_args!("{name} is calibrated: the offset is {offset} {unit}."))
    }

    async fn report(&self, task: &mut TaskCx<'_, '_>, sensor: usize) -> Result<Done, Stopped> {
        let Some(Channel { kept, .. }) = self.channels.get(sensor) else {
            return self.explain(task, Misfit::Sensor);
        };
        if kept.is_empty()
            && let Err(failure) = self.measure(task, sensor).await
        {
            return task.fail(format_args!("{failure}"));
        }
        self.tell_kept(task, kept, self.sensor(sensor)).await.map(|()| Done::Completed)
    }

    fn tell_kept<'t, 'n, 's>(&self, task: &'t mut TaskCx<'n, 's>, kept: &Kept, sensor: Sensor) -> Pause<'t, 'n, 's> {
        let booted_at = task.wall_time().map(|wall| UnixMillis(wall.0.saturating_sub(task.now().0)));
        let csv = Csv { kept, sensor, booted_at };
        let (takes_file, form) = (task.accepts("text/csv"), Form::of(task));
        let artifact = task.artifact("report").described("The newest readings, oldest first");
        match form {
            Form::Data => {
                let series = Series { sensor: sensor.name, unit: sensor.unit, values: kept };
                // More than the longest readings take.
                let data = Data::<512>::of(&series);
                artifact.parts(data.as_ref().map(Data::piece).as_slice())
            }
            Form::Text if !takes_file => artifact.text(format_args!("{csv}")),
            Form::Text | Form::Both => {
                let name = format_name(sensor.name);
                artifact.parts(&[Piece::File { name: &name, media_type: "text/csv", content: format_args!("{csv}") }])
            }
        }
    }

    fn set(&self, task: &mut TaskCx<'_, '_>, actuator: usize, position: Position) -> Result<Done, Stopped> {
        let name = self.board.actuators().get(actuator).copied().unwrap_or_default();
        match self.board.set(actuator, position) {
            Ok(()) => complete(task, format_args!("{name} is {position}.")),
            Err(trouble) => task.fail(format_args!("{}", Failure { name, trouble })),
        }
    }

    async fn convert(&self, task: &mut TaskCx<'_, '_>, scale: Scale) -> Result<Done, Stopped> {
        let reading = task.reference().and_then(|reference| self.told_in(&reference));
        match reading.map(|reading| reading.on(scale).ok_or(reading)) {
            Some(Ok(reading)) => give(task, reading).await.map(|()| Done::Completed),
            Some(Err(other)) => {
                reply(task, format_args!("{} is no temperature: it is in {}.", other.sensor, other.unit))
            }
            None => self.explain(
                task,
                Misfit::Because("there is no reading to convert: name its task in referenceTaskIds, or read first"),
            ),
        }
    }

    /// Measures, corrects and keeps.
    async fn measure(&self, task: &TaskCx<'_, '_>, sensor: usize) -> Result<Reading, Failure> {
        let Sensor { name, unit } = self.sensor(sensor);
        let measured = self.board.read(sensor).await.map_err(|trouble| Failure { name, trouble })?;
        let value = measured.plus(self.offset(sensor));
        if let Some(channel) = self.channels.get(sensor) {
            channel.kept.keep(task.now(), value);
        }
        Ok(Reading { sensor: name, value, unit, time: task.wall_time() })
    }

    fn offset(&self, sensor: usize) -> Milli {
        let Some(channel) = self.channels.get(sensor) else { return Milli(0) };
        if let Some(offset) = channel.offset.get() {
            return offset;
        }
        let mut bytes = [0; 4];
        let kept = self.board.load(Key::calibration(sensor), &mut bytes);
        let offset = if kept == Some(bytes.len()) { Milli(i32::from_le_bytes(bytes)) } else { Milli(0) };
        channel.offset.set(Some(offset));
        offset
    }

    fn sensor(&self, sensor: usize) -> Sensor {
        self.board.sensors().get(sensor).copied().unwrap_or(Sensor { name: "", unit: "" })
    }
}

/// Answers with a message.
fn reply(task: &mut TaskCx<'_, '_>, text: fmt::Arguments<'_>) -> Result<Done, Stopped> {
    match structured(task, text) {
        Some(data) => task.reply_with(&[data.piece()]),
        None => task.reply(text),
    }
}

/// Completes a task with words.
fn complete(task: &mut TaskCx<'_, '_>, text: fmt::Arguments<'_>) -> Result<Done, Stopped> {
    match structured(task, text) {
        Some(data) => task.complete_with(&[data.piece()]),
        None => task.complete(text),
    }
}

/// Words as data, for a client that asked for data. If they are too long for that, text is better than nothing.
fn structured(task: &TaskCx<'_, '_>, text: fmt::Arguments<'_>) -> Option<Data<768>> {
    (Form::of(task) == Form::Data).then(|| Data::of(&Note { message: Shown(text) }))?
}

/// What is said to a client that wants data.
#[derive(Serialize)]
struct Note<'a> {
    message: Shown<'a>,
}

struct Shown<'a>(fmt::Arguments<'a>);

impl Serialize for Shown<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

/// Gives one reading as all there is.
fn give<'t, 'n, 's>(task: &'t mut TaskCx<'n, 's>, reading: Reading) -> Pause<'t, 'n, 's> {
    let form = Form::of(task);
    reading.send(task.artifact(reading.sensor), form)
}

/// A reading on the scale that was asked for; what is no temperature stays as it is.
fn told_on(reading: Reading, scale: Option<Scale>) -> Reading {
    scale.and_then(|scale| reading.on(scale)).unwrap_or(reading)
}

fn format_name(sensor: &str) -> heapless::String<32> {
    let mut name = heapless::String::new();
    // A name that is too long has a shorter file name.
    let _ = name.push_str(sensor.get(..sensor.len().min(28)).unwrap_or("report"));
    let _ = name.push_str(".csv");
    name
}

impl Plan {
    /// Whether the reading of that number is the last.
    fn is_over(self, count: u32, begun: Millis, now: Millis) -> bool {
        count >= self.times || self.span.is_some_and(|span| now.after(self.every) >= begun.after(span))
    }

    /// How long all of it takes.
    fn lasts(self) -> Millis {
        let all = Millis(self.every.0.saturating_mul(u64::from(self.times.saturating_sub(1))));
        self.span.map_or(all, |span| span.min(all))
    }
}

/// What a calibration did.
#[derive(Serialize)]
struct Calibration {
    sensor: &'static str,
    offset: Milli,
    unit: &'static str,
}

/// Which part of the board did not do what it should.
struct Failure {
    name: &'static str,
    trouble: Trouble,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.trouble)
    }
}

/// Clients that leave it to the agent wait for this long; whoever asks for more is told to come back.
const LONG: Millis = Millis(30_000);

const TOO_MANY: &str =
    "So many tasks are waiting here already that nothing else could be asked: cancel one of them first.";

/// How often an alert looks.
const ALERT_EVERY: Millis = Millis(1_000);
