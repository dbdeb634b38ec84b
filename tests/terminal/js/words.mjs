// What the agents on the JavaScript SDKs say and do, in the events of neither version: each file beside this one makes them
// its own. `events` has message, task, status and artifact.

const sleep = (millis) => new Promise((resolve) => setTimeout(resolve, millis));

export class Words {
    #canceled = new Set();

    constructor(events) {
        this.events = events;
    }

    execute = async (context, bus) => {
        const { taskId, contextId, userMessage } = context;
        const of = { taskId, contextId };
        const words = this.events.words(userMessage);
        const publish = (event) => bus.publish(event);
        const status = (state, said) => publish(this.events.status(of, state, said));
        const artifact = (artifactId, parts, flags = {}) => publish(this.events.artifact(of, artifactId, parts, flags));
        if (words.startsWith('hello')) {
            publish(this.events.message(of, 'hello to you \u001b[2J'));
            return bus.finished();
        }
        const task = this.events.task(of, userMessage, context.task);
        if (task) publish(task);
        status('working');
        if (context.task) {
            artifact('answer', [`you said ${words}`]);
            status('completed');
        } else if (words.startsWith('read')) {
            artifact('reading', ['temperature 21.5 °C', { value: 21.5 }]);
            status('completed');
        } else if (words.startsWith('watch')) {
            for (const number of [0, 1, 2]) {
                artifact('readings', [`reading ${number}`], { append: number > 0, lastChunk: number === 2 });
                await sleep(50);
            }
            status('completed');
        } else if (words.startsWith('calibrate')) {
            status('input-required', 'what should it be?');
        } else if (words.startsWith('fail')) {
            status('failed', 'the sensor is broken');
        } else {
            while (!this.#canceled.has(taskId)) await sleep(50);
            status('canceled');
        }
        bus.finished();
    };

    cancelTask = async (taskId) => {
        this.#canceled.add(taskId);
    };
}
