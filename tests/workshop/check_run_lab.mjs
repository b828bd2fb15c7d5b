// Plays somebody who starts run-lab, presses Enter once and then Ctrl-C.
import {spawn} from 'node:child_process';
import {setTimeout as sleep} from 'node:timers/promises';

function isAlive(pid) {
    try {
        process.kill(pid, 0);
        return true;
    } catch {
        return false;
    }
}

async function until(condition, what) {
    for (let waited_ms = 0; !condition(); waited_ms += 50) {
        if (waited_ms > 20_000) throw new Error(`run-lab: in vain waited for ${what}`);
        await sleep(50);
    }
}

/** Lab 3: a stub and a thread pool, after Enter a fiber server, after Ctrl-C none of the three. */
export async function checkRunLab(root) {
    const child = spawn(`${root}/docs/workshop/run-lab`, ['--free-ports', '3'],
                        {detached: true, stdio: ['pipe', 'pipe', 'inherit']});
    let output = '';
    let status;
    child.stdout.on('data', (text) => output += text);
    child.on('close', (code) => status = code);
    const started = () => [...output.matchAll(/process (\d+)\)/g)].map(([, pid]) => Number(pid));
    try {
        await until(() => /Enter:.*server_stackful/.test(output), 'the first server');
        const url = output.match(/wrk .*(http:\/\/127\.0\.0\.1:\d+)\/wait/)[1];
        const health = await (await fetch(`${url}/health`)).json();
        if (health.model !== 'thread_pool') throw new Error(`run-lab names another port: ${url}`);
        child.stdin.write('\n');
        await until(() => /last server/.test(output), 'the second server');
        const [stub, pool, fibers] = started().map(isAlive);
        if (!stub || pool || !fibers) throw new Error(`run-lab: stub, old, new alive: ${output}`);
    } finally {
        // Ctrl-C reaches the group in the foreground, which is run-lab's and not its servers'.
        process.kill(-child.pid, 'SIGINT');
        await until(() => status !== undefined, 'its end');
    }
    if (status !== 0 || started().some(isAlive)) {
        throw new Error(`run-lab left something behind, status ${status}: ${output}`);
    }
}
