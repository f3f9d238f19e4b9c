// A queue that people use, with sixteen workers in this one process, for ./bench:
//   node queue.mjs graphile-worker|pg-boss|pg-boss-batch <database URL> <port>
// GET /fill/N puts N jobs into the queue; with `work` for `fill` it works them off and answers the
// seconds from the start of the first to the end of the last.
import { EventEmitter } from "node:events";
import { createServer } from "node:http";
import pg from "pg";

const [name, connectionString, port] = process.argv.slice(2);
const workers = 16;
const batch = 100;

function fail(error) {
  console.error(error);
  process.exit(1);
}

// As run() does it by default: each worker asks for a job and says when it is done; no local queue.
async function graphileWorker() {
  const { Logger, run, runMigrations } = await import("graphile-worker");
  const logger = new Logger(() => (level, message) => {
    if (level === "error") console.error(message);
  });
  // Connections that stay, as the server's own do.
  const pgPool = new pg.Pool({ connectionString, max: workers + 4, idleTimeoutMillis: 0 });
  pgPool.on("error", fail);
  pgPool.on("connect", (client) => client.on("error", fail));
  await runMigrations({ pgPool, logger });

  async function fill(count) {
    await pgPool.query(
      "SELECT graphile_worker.add_job('nothing', json_build_object('n', n)) FROM generate_series(1, $1::int) n",
      [count],
    );
  }
  async function empty() {
    const { rows } = await pgPool.query("SELECT EXISTS (SELECT FROM graphile_worker._private_jobs) AS any");
    return !rows[0].any;
  }
  async function work(count) {
    let first = 0;
    let done = 0;
    const events = new EventEmitter();
    const last = new Promise((resolve) => {
      events.on("job:complete", () => ++done === count && resolve());
    });
    events.on("job:start", () => (first ||= performance.now()));
    const runner = await run({
      pgPool,
      logger,
      events,
      concurrency: workers,
      taskList: { nothing: () => {} },
      parsedCronItems: [],
      noHandleSignals: true,
    });
    await last;
    // It does not wait for the statement that completes a job before it asks for the next one.
    while (!(await empty()));
    const end = performance.now();
    await runner.stop();
    return (end - first) / 1000;
  }
  return { fill, work };
}

async function pgBoss(batchSize) {
  const { PgBoss } = await import("pg-boss");
  const boss = new PgBoss({ connectionString, max: workers });
  boss.on("error", fail);
  await boss.start();
  const queue = "nothing";
  await boss.createQueue(queue);

  async function fill(count) {
    for (let put = 0; put < count; put += 1000) {
      const jobs = Array.from({ length: Math.min(1000, count - put) }, (_, n) => ({ data: { n: put + n } }));
      await boss.insert(queue, jobs);
    }
  }
  async function worker(counts) {
    for (;;) {
      const jobs = await boss.fetch(queue, { batchSize });
      if (jobs.length === 0) return;
      await boss.complete(queue, batchSize === 1 ? jobs[0].id : jobs.map((job) => job.id));
      counts.done += jobs.length;
      counts.end = performance.now();
    }
  }
  async function work(count) {
    const counts = { done: 0, end: 0 };
    const start = performance.now();
    await Promise.all(Array.from({ length: workers }, () => worker(counts)));
    if (counts.done !== count) throw new Error(`${counts.done} of ${count} jobs were done`);
    return (counts.end - start) / 1000;
  }
  return { fill, work };
}

const queues = {
  "graphile-worker": graphileWorker,
  "pg-boss": () => pgBoss(1),
  "pg-boss-batch": () => pgBoss(batch),
};
const queue = await queues[name]();

const server = createServer(async (request, response) => {
  const [, what, count] = request.url.split("/");
  let status = 200;
  let answer;
  try {
    answer = JSON.stringify({ seconds: (await queue[what](Number(count))) ?? null });
  } catch (error) {
    status = 500;
    answer = String(error.stack);
  }
  response.writeHead(status, { "Content-Length": Buffer.byteLength(answer) });
  response.end(answer);
});
server.keepAliveTimeout = 0;  // the bench waits between its requests
server.listen(Number(port), "127.0.0.1", () => console.log("ready"));
