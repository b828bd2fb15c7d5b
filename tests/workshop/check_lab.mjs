// Does what a lab's page says: starts its servers, types its commands, and looks whether what the
// page says one should see is what is seen. Runs are short and ports free ones; nothing else is
// changed. The page says what to see in comments behind each command:
//
//   <!-- see: rate A..B -->           requests a second; A and B may have the factor `cpus`
//   <!-- see: rate_of N * A..B -->    the same, as a multiple of the rate of the lab's Nth command
//   <!-- see: median_ms A..B -->
//   <!-- see: text PATTERN -->        in what the command prints
//   <!-- see: log PATTERN -->         in what the servers have logged
//
// usage: node check_lab.mjs REPOSITORY FOLDER_OF_PROGRAMS N

import { spawn, spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { createServer } from 'node:net';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const kRunSeconds = 3;
const kStartMs = 10_000;
const kCommandMs = 60_000;
const kStopMs = 3_000;
const kDefaultPorts = {
    downstream_stub: 9000, server_thread_pool: 8080, server_stackful: 8081,
    server_stackless: 8082, server_sync_over_async: 8083,
};

const [repository, programs, lab] = process.argv.slice(2);
const page = readFileSync(`${repository}/docs/workshop/lab-${lab}.md`, 'utf8');
const cpus = Number(spawnSync('nproc').stdout) || availableParallelism();

function freePort() {
    return new Promise((resolve, reject) => {
        const server = createServer();
        server.on('error', reject);
        server.listen(0, '127.0.0.1', () => {
            const { port } = server.address();
            server.close(() => resolve(port));
        });
    });
}

const ports = new Map();
async function portFor(pagePort) {
    if (!ports.has(pagePort)) ports.set(pagePort, await freePort());
    return ports.get(pagePort);
}

/// Blocks in the order of the page: {kind, lines, sees}.
function blocksOf(text) {
    const blocks = [];
    for (const [, kind, body, quoted, see] of text.matchAll(
        /^```sh (\w+)\n([\s\S]*?)^```$|^```(\w*)\n|^<!-- see: (.*) -->$/gm)) {
        if (kind) blocks.push({ kind, lines: body.trim().split('\n'), sees: [] });
        else if (see) blocks.at(-1).sees.push(see);
        else if (quoted === 'sh') throw new Error('a block ```sh must say server or client');
    }
    return blocks;
}

async function start(line) {
    const name = line.match(/^build\/release\/bin\/(\w+)/)[1];
    const own = line.match(/ --port (\d+)/);
    const port = await portFor(Number(own ? own[1] : kDefaultPorts[name]));
    const words = line.replace(/ --port \d+/, '').split(' ').slice(1);
    words.push('--port', port);
    if (name !== 'downstream_stub') words.push('--downstream', `127.0.0.1:${await portFor(9000)}`);
    const child = spawn(`${programs}/${name}`, words, { detached: true });
    const server = { line, child, log: '', output: '', ended: false };
    child.stdout.on('data', (data) => { server.output += data; });
    child.stderr.on('data', (data) => { server.log += data; });
    child.on('exit', () => { server.ended = true; });
    child.on('error', (error) => { server.log += error; server.ended = true; });
    const until = Date.now() + kStartMs;
    while (!server.output.includes(' listening on ')) {
        if (server.ended || Date.now() > until) throw new Error(`${line} did not start: ${server.log}`);
        await sleep(20);
    }
    return server;
}

async function stop(servers) {
    for (let round = 0; round < 3 && servers.some((server) => !server.ended); ++round) {
        for (const server of servers) {
            if (!server.ended) server.child.kill(round < 2 ? 'SIGTERM' : 'SIGKILL');
        }
        const until = Date.now() + kStopMs;
        while (servers.some((server) => !server.ended) && Date.now() < until) await sleep(20);
    }
}

/// Asynchronous, so that what the servers log is read meanwhile.
function run(command) {
    return new Promise((resolve) => {
        const child = spawn('bash', ['-c', command], { detached: true });
        let output = '';
        child.stdout.on('data', (data) => { output += data; });
        child.stderr.on('data', (data) => { output += data; });
        const timer = setTimeout(() => process.kill(-child.pid, 'SIGKILL'), kCommandMs);
        child.on('close', () => { clearTimeout(timer); resolve(output); });
    });
}

async function adapted(command) {
    let text = command.replace(/ -d\d+s/g, ` -d${kRunSeconds}s`);
    for (const [whole, port] of command.matchAll(/127\.0\.0\.1:(\d+)/g)) {
        text = text.replaceAll(whole, `127.0.0.1:${await portFor(Number(port))}`);
    }
    return text;
}

const rateOf = (output) => Number(output.match(/Requests\/sec:\s+([\d.]+)/)?.[1] ?? NaN);

function medianMsOf(output) {
    const found = output.match(/^\s+50%\s+([\d.]+)(us|ms|s)$/m);
    return found ? Number(found[1]) * { us: 0.001, ms: 1, s: 1000 }[found[2]] : NaN;
}

const numberOf = (text) =>
    text.split('*').reduce((product, factor) => product * (factor === 'cpus' ? cpus : Number(factor)), 1);

/// Empty when it is seen, otherwise what is instead.
function unseen(see, output, rates, log) {
    const [, what, rest] = see.match(/^(\w+) (.*)$/);
    if (what === 'text') return new RegExp(rest).test(output) ? '' : `no ${rest}`;
    if (what === 'log') return new RegExp(rest).test(log) ? '' : `no ${rest} in the log`;
    const [, other, low, high] = rest.match(/^(?:(\d+) \* )?(\S+)\.\.(\S+)$/);
    const value = what === 'median_ms' ? medianMsOf(output)
        : what === 'rate_of' ? rateOf(output) / rates[Number(other) - 1]
        : what === 'rate' ? rateOf(output) : NaN;
    return value >= numberOf(low) && value <= numberOf(high) ? '' : `it is ${value}`;
}

const blocks = blocksOf(page);
const servers = [];
const rates = [];
let failures = 0;
try {
    for (const line of blocks.filter(({ kind }) => kind === 'server').flatMap(({ lines }) => lines)) {
        servers.push(await start(line));
    }
    for (const { lines, sees } of blocks.filter(({ kind }) => kind === 'client')) {
        const output = await run(await adapted(lines.join('\n')));
        rates.push(rateOf(output));
        console.log(`$ ${lines.join('\n')}\n${output}`);
        if (sees.length === 0) {
            console.log('FAILED: the page does not say what to see');
            ++failures;
        }
        for (const see of sees) {
            const log = servers.map((server) => server.log).join('');
            const instead = unseen(see, output, rates, log);
            console.log(instead ? `FAILED: ${see}, but ${instead}` : `seen: ${see}`);
            failures += instead ? 1 : 0;
        }
    }
    if (rates.length === 0) throw new Error('the page has no command');
} catch (error) {
    console.log(`FAILED: ${error.message}`);
    ++failures;
} finally {
    await stop(servers);
}
process.exit(failures ? 1 : 0);
