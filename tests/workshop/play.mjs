// Plays a lab page as a learner would, on free ports and in less time.
import {execFileSync, spawn} from 'node:child_process';
import {setTimeout as sleep} from 'node:timers/promises';

const kDefaultPort = {stub: '9000', thread_pool: '8080', stackful: '8081', stackless: '8082',
                      sync_over_async: '8083'};
const running = new Set();

// Each program gets a session of its own, as in a terminal: the kernel shares the CPUs out to
// sessions, and one session for all would let 200 threads crowd out the stub.
function start(command) {
    const child = spawn('sh', ['-c', command], {detached: true, stdio: ['ignore', 'pipe', 'pipe']});
    const program = {child, output: ''};
    child.stdout.on('data', (text) => program.output += text);
    child.stderr.on('data', (text) => program.output += text);
    program.ended = new Promise((resolve) => child.on('close', resolve));
    running.add(program);
    program.ended.then(() => running.delete(program));
    return program;
}

// A deadlocked server cannot drain; a second signal ends it at once.
async function stop(program) {
    for (let second = 0; running.has(program) && second < 10; ++second) {
        program.child.kill('SIGTERM');
        await Promise.race([program.ended, sleep(1000)]);
    }
    if (running.has(program)) {
        program.child.kill('SIGKILL');
        throw new Error(`still there after 10 s of SIGTERM: ${program.output}`);
    }
}

export function stopAll() {
    for (const program of running) {
        program.child.kill('SIGKILL');
    }
}

async function listening(program, command) {
    for (let waited_ms = 0; waited_ms < 10_000; waited_ms += 20) {
        const found = program.output.match(/^(?:server|downstream)_(\w+) listening on .*:(\d+)$/m);
        if (found) {
            return {from: kDefaultPort[found[1]], to: found[2]};
        }
        await sleep(20);
    }
    throw new Error(`${command}: does not listen after 10 s: ${program.output}`);
}

/** The commands of a page: [{terminal, command}]. */
export function commandsOf(root, lab) {
    const lines = execFileSync(`${root}/docs/workshop/run-lab`, ['--list', String(lab)],
                               {encoding: 'utf8'}).trim().split('\n');
    return lines.map((line) => {
        const [terminal, ...command] = line.split('\t');
        return {terminal: Number(terminal), command: command.join('\t')};
    });
}

/** Plays a page. Returns, in its order, what each command of terminals 3 and 4 printed, and what
    the server of terminal 2 had printed when it ended: [{command, output, server}]. */
export async function play(commands, bin, secondsOf) {
    const terminals = {};
    const seen = [];
    const typed = ({command}) => {
        const server = terminals[2];
        return command.replaceAll(`127.0.0.1:${server.port.from}`, `127.0.0.1:${server.port.to}`)
            .replace(/\$\(pidof \w+\)/g, server.child.pid)
            .replace(/-d(\d+)s/, (_, seconds) => `-d${secondsOf(command, Number(seconds))}s`);
    };
    const run = async (entry) => {
        const program = start(typed(entry));
        const record = {command: entry.command, server: terminals[2]};
        seen.push(record);
        await program.ended;
        record.output = program.output;
    };
    for (let at = 0; at < commands.length; ++at) {
        const {terminal, command} = commands[at];
        if (terminal <= 2) {
            for (const older of terminal === 1 ? [2, 1] : [2]) {
                if (terminals[older]) await stop(terminals[older]);
            }
            const stub = terminals[1] ? ` --downstream 127.0.0.1:${terminals[1].port.to}` : '';
            terminals[terminal] = start('exec ' + command.replace('build/release/bin', bin) +
                                        ' --port 0' + (terminal === 2 ? stub : ''));
            terminals[terminal].port = await listening(terminals[terminal], command);
            continue;
        }
        // What stands in terminal 4 is typed while the command before it runs.
        const load = run(commands[at]);
        if (commands[at + 1]?.terminal === 4) {
            await sleep(Number(typed(commands[at]).match(/-d(\d+)s/)[1]) * 500);
            while (commands[at + 1]?.terminal === 4) await run(commands[++at]);
        }
        await load;
    }
    await stop(terminals[2]);
    await stop(terminals[1]);
    return seen;
}
