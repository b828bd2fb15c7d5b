// `run-lab 1` starts the servers of lab 1 at their default ports, prints the commands to type, and
// leaves nothing behind at Ctrl-C. Skipped (77) where another program has these ports.
//
// usage: node check_run_lab.mjs REPOSITORY

import { spawn } from 'node:child_process';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const kSkipped = 77;
const kReadyMs = 10_000;
const kStopMs = 20_000;
const [repository] = process.argv.slice(2);

function answers(port) {
    return new Promise((resolve) => {
        const socket = connect(port, '127.0.0.1');
        socket.on('connect', () => { socket.destroy(); resolve(true); });
        socket.on('error', () => resolve(false));
    });
}

function fail(why, output) {
    console.log(`FAILED: ${why}\n${output}`);
    process.exit(1);
}

if (await answers(9000) || await answers(8080)) process.exit(kSkipped);
const child = spawn(`${repository}/docs/workshop/run-lab`, ['1'], { detached: true });
let output = '';
let status = null;
child.stdout.on('data', (data) => { output += data; });
child.stderr.on('data', (data) => { output += data; });
child.on('exit', (code) => { status = code; });

for (const until = Date.now() + kReadyMs; !output.includes('Ctrl-C stops the servers.'); await sleep(20)) {
    if (status !== null || Date.now() > until) fail('it did not get ready', output);
}
if (!output.includes('server_thread_pool listening on')) fail('no server is named', output);
if (!output.includes('wrk -t1 -c1000')) fail('no command is named', output);
if (!await answers(9000) || !await answers(8080)) fail('a server does not listen', output);
process.kill(child.pid, 'SIGINT');
for (const until = Date.now() + kStopMs; status === null; await sleep(20)) {
    if (Date.now() > until) fail('it did not end', output);
}
if (await answers(9000) || await answers(8080)) fail('a server was left behind', output);
console.log(output);
