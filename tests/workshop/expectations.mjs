// What each lab page says you should see: for each command of terminals 3 and 4, in the page's
// order, a function that throws when it is not seen. Rates are limits within a factor of two.

function expect(condition, sentence) {
    if (!condition) throw new Error(sentence);
}

const kMilliseconds = {us: 0.001, ms: 1, s: 1000, m: 60_000};
function wrk({command, output}) {
    const rate = output.match(/Requests\/sec:\s+([\d.]+)/);
    expect(rate && !/Non-2xx/.test(output), `${command}: ${output}`);
    const median = output.match(/50%\s+([\d.]+)(us|ms|s|m)/);
    return {rate: Number(rate[1]), requests: Number(output.match(/(\d+) requests in/)[1]),
            median_ms: median ? Number(median[1]) * kMilliseconds[median[2]] : NaN};
}

function near(seen, predicted, what) {
    expect(seen >= predicted / 2 && seen <= predicted * 2,
           `${what} ${seen}, not near ${predicted}`);
}
const rate = (predicted) => (record) => near(wrk(record).rate, predicted, 'requests a second:');
const closed = (predicted, median_ms) => (record) => {
    rate(predicted)(record);
    near(wrk(record).median_ms, median_ms, 'median in ms:');
};
/** A rate that is never above the arithmetic, and where the CPUs end it is no matter. */
const below = (ceiling) => (record) => {
    const seen = wrk(record).rate;
    expect(seen > 0 && seen <= ceiling * 1.05, `requests a second: ${seen}, above ${ceiling}`);
};
const all = (...checks) => (record, records) => checks.forEach((check) => check(record, records));
/** The rate is at least so many times that of the command at this place. */
const timesThat = (times, place) => (record, records) => {
    const [mine, other] = [wrk(record).rate, wrk(records[place]).rate];
    expect(mine >= times * other, `${mine} requests a second, not ${times} times ${other}`);
};
const shows = (pattern) => ({command, output}) =>
    expect(pattern.test(output), `${command}: not ${pattern}: ${output}`);
const number = (pattern, low, high) => ({command, output}) => {
    const found = output.match(pattern);
    expect(found && Number(found[1]) >= low && Number(found[1]) <= high,
           `${command}: ${found?.[1]} is not from ${low} to ${high}: ${output}`);
};
const threads = (low, high) => number(/Threads:\s+(\d+)/, low, high);
const silence = (record) => expect(wrk(record).requests === 0, `answered: ${record.output}`);
/** Context switches so far, and so they are the more the longer wrk ran. */
const switches = number(/^(\d+)$/m, 1000, 1e9);
const traced = ({server}) =>
    expect(/pinned fiber blocks.*\n(.*\n)*.*blocking::/.test(server.output),
           `no trace: ${server.output}`);

export const expectations = {
    1: [closed(50, 20), below(10_000), closed(10_000, 100)],
    2: [rate(10_000), threads(200, 205), switches,
        all(below(50_000), timesThat(1.1, 0)), threads(1000, 1005), switches, below(50_000)],
    3: [rate(10_000), threads(200, 205), all(below(50_000), timesThat(1.2, 0)), threads(2, 600)],
    4: [closed(1000, 1000), all(number(/phase="waiting"\} (\d+)/, 900, 1000),
                                number(/^waitbench_threads (\d+)/m, 2, 3))],
    5: [
        // Silence for 22 s and then the pool's rate: from 8 s of 30 come 2,000 to 45,000.
        (record) => expect(wrk(record).requests > 2000 && wrk(record).requests < 45_000,
                           `${wrk(record).requests} answers in 30 s`),
        all(number(/^waitbench_pool_threads (\d+)/m, 37, 90),
            number(/^waitbench_pool_blocked (\d+)/m, 37, 90)),
        below(1000),
        silence, shows(/no answer within two seconds/), shows(/"status":"ok"/), threads(6, 8),
        number(/^(\d+) \d+$/m, 0, 100),
        all(number(/^waitbench_pool_threads (\d+)/m, 4, 4),
            number(/^waitbench_pool_blocked (\d+)/m, 4, 4),
            number(/^waitbench_pool_queue_length (\d+)/m, 5, 10)),
        rate(5000),
    ],
    6: [all(closed(100, 1000), traced), number(/total (\d+)/, 50, 5000),
        all(rate(5000), timesThat(10, 0)), below(12_800), threads(100, 260)],
    7: [below(1000), below(4000), ...[1, 1, 1].map((place) => (record, records) =>
            near(wrk(record).rate, wrk(records[place]).rate, 'requests a second:'))],
    8: [closed(5000, 20), all(closed(100, 1000)), closed(2, 1000), number(/^([\d.]+)$/m, 0.02, 4),
        all(rate(5000), timesThat(10, 1))],
};

/** wrk's seconds in the test; what takes its time on the page takes it here. */
export function secondsOf(command, seconds) {
    return seconds === 30 ? 30 : /block\?ms=1000|sleep\?ms=1000/.test(command) ? 4 : 2;
}
