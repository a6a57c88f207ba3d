// A tenant who has nothing but the packages of npm, against a running provider: from an SDL to a
// lease that runs, its logs, events and shell, an update, and its end.
// Takes RPC_URL, GRPC_URL, GATEWAY_URL, GATEWAY_GRPC_URL, TENANT_KEY (hex) and PROVIDER (an address)
// from the environment; prints one line per thing that worked, fails on the first that did not.
import assert from "node:assert/strict";
import https from "node:https";
import { Secp256k1Wallet } from "@cosmjs/amino";
import { DirectSecp256k1Wallet } from "@cosmjs/proto-signing";
import {
  certificateManager, createChainNodeSDK, createProviderSDK, createStargateClient,
  generateManifest, generateManifestVersion, JwtTokenManager, manifestToSortedJSON, yaml,
} from "@akashnetwork/chain-sdk";
// Its entry needs a native module that is of no use here.
import olderCertificates from "@akashnetwork/akashjs/build/certificates/index.js";
import { SDL } from "@akashnetwork/akashjs/build/sdl/index.js";
import WebSocket from "ws";

const {
  RPC_URL, GRPC_URL, GATEWAY_URL, GATEWAY_GRPC_URL, TENANT_KEY, PROVIDER,
} = process.env;

// A service with parameters: without any, akashjs hashes a null where every other client has nothing.
const text = (image, denom) => `
version: "2.0"
services:
  web:
    image: ${image}
    params:
      storage:
        shm:
          mount: /dev/shm
    expose:
      - port: 80
        as: 80
        to:
          - global: true
profiles:
  compute:
    web:
      resources:
        cpu:
          units: 0.1
        memory:
          size: 128Mi
        storage:
          - size: 512Mi
          - name: shm
            size: 64Mi
            attributes:
              class: ram
  placement:
    dc:
      pricing:
        web:
          denom: ${denom}
          amount: 1000
deployment:
  web:
    dc:
      profile: web
      count: 1
`;

const done = (what) => console.log(`ok ${what}`);
const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/// Looks until something is found; what was `noted` last is said if it never is.
let noted = "";
async function until(what, look) {
  const end = Date.now() + 60_000;
  for (;;) {
    const found = await look();
    if (found) return found;
    assert.ok(Date.now() < end, `${what}: not within a minute; ${noted}`);
    await sleep(200);
  }
}

/// One request to the gateway; what it answers.
function ask(method, path, { token, pem, body, type = "application/json" } = {}) {
  const url = new URL(path, GATEWAY_URL);
  const headers = {};
  if (token) headers.Authorization = `Bearer ${token}`;
  if (body !== undefined) headers["Content-Type"] = type;
  const credentials = pem ? { cert: pem.cert, key: pem.privateKey } : {};
  return new Promise((resolve, reject) => {
    // Without a name in the hello, as clients with a certificate connect.
    const options = { method, headers, rejectUnauthorized: false, servername: "", ...credentials };
    const request = https.request(url, options, (response) => {
      const chunks = [];
      response.on("data", (chunk) => chunks.push(chunk));
      response.on("end", () => {
        resolve({ status: response.statusCode, body: Buffer.concat(chunks).toString() });
      });
    });
    request.on("error", reject);
    request.end(body);
  });
}

/// A WebSocket with a certificate or a token; what comes is collected.
async function stream(path, { token, pem } = {}) {
  const url = new URL(path, GATEWAY_URL.replace("https:", "wss:"));
  const credentials = pem ? { cert: pem.cert, key: pem.privateKey } : {};
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  const socket = new WebSocket(url, { rejectUnauthorized: false, headers, ...credentials });
  const messages = [];
  socket.on("message", (data) => messages.push(Buffer.from(data)));
  const closed = new Promise((resolve) => {
    socket.on("close", (code, reason) => resolve({ code, reason: reason.toString() }));
  });
  await new Promise((resolve, reject) => {
    socket.on("open", resolve);
    socket.on("error", reject);
  });
  return { socket, messages, closed };
}

const key = Buffer.from(TENANT_KEY, "hex");
const direct = await DirectSecp256k1Wallet.fromKey(key, "akash");
const amino = await Secp256k1Wallet.fromKey(key, "akash");
const [{ address: tenant }] = await direct.getAccounts();
const chain = createChainNodeSDK({
  query: { baseUrl: GRPC_URL },
  // Simulated without a fee, a small message costs less than it will with one.
  tx: { signer: createStargateClient({ baseUrl: RPC_URL, signer: direct, gasMultiplier: 1.3 }) },
});

// Certificates: of the SDK of today, and of the one before.
const pem = await certificateManager.generatePEM(tenant);
const publish = (cert, pubkey) => chain.akash.cert.v1.createCertificate({
  owner: tenant, cert: Buffer.from(cert, "utf-8"), pubkey: Buffer.from(pubkey, "utf-8"),
});
await publish(pem.cert, pem.publicKey);
done("chain-sdk: a certificate published");

const jwt = new JwtTokenManager(amino);
const now = Math.floor(Date.now() / 1000);
const claims = { version: "v1", iss: tenant, iat: now, nbf: now, exp: now + 600 };
const token = await jwt.generateToken({ ...claims, leases: { access: "full" } });
const scoped = await jwt.generateToken({
  ...claims, leases: { access: "scoped", scope: ["status"] },
});
done("chain-sdk: tokens signed");

// From an SDL to a lease.
const built = generateManifest(yaml([text("nginx", "uact")]));
assert.ok(built.ok, JSON.stringify(built.value));
const hash = await generateManifestVersion(built.value.groups);
const dseq = 5151n;
const id = { owner: tenant, dseq };
await chain.akash.deployment.v1beta4.createDeployment({
  id, groups: built.value.groupSpecs, hash,
  deposit: { amount: { denom: "uact", amount: "5000000" }, sources: [1] },
});
const bid = await until("a bid", async () => {
  const { bids } = await chain.akash.market.v1beta5.getBids({
    filters: { owner: tenant, dseq, gseq: 0, oseq: 0, provider: "", state: "open", bseq: 0 },
    pagination: undefined,
  });
  return bids.find(({ bid }) => bid.id.provider === PROVIDER)?.bid;
});
await chain.akash.market.v1beta5.createLease({ bidId: bid.id });
done("chain-sdk: deployment, bid, lease");

// Public, and not.
const status = await ask("GET", "/status");
assert.equal(status.status, 200);
assert.ok(JSON.parse(status.body).cluster);
assert.equal((await ask("GET", `/lease/${dseq}/1/1/status`)).status, 401);
const path = `/deployment/${dseq}/manifest`;
const body = manifestToSortedJSON(built.value.groups);
const refused = await ask("PUT", path, { token: scoped, body });
assert.ok([401, 403].includes(refused.status), JSON.stringify(refused));
done("rest: what is public is, what is not is not");

await until("the manifest is taken", async () => {
  const answer = await ask("PUT", path, { token, body });
  // The lease may be in a block that the provider has not seen yet.
  noted = JSON.stringify(answer);
  assert.ok([200, 404].includes(answer.status), noted);
  return answer.status === 200;
});
done("rest: manifest by token");

const running = await until("it runs", async () => {
  const answer = await ask("GET", `/lease/${dseq}/1/1/status`, { token: scoped });
  // A manifest is accepted before it is deployed: 404 until the workloads are there.
  noted = JSON.stringify(answer);
  if (answer.status === 404) return false;
  assert.equal(answer.status, 200, noted);
  const { services } = JSON.parse(answer.body);
  return services.web?.available === 1 && services.web;
});
assert.ok(running.uris.length > 0, JSON.stringify(running));
done("rest: lease status by a scoped token");
const service = await ask("GET", `/lease/${dseq}/1/1/service/web/status`, { pem });
assert.equal(service.status, 200, service.body);
done("rest: service status by certificate");

// Streams.
const logs = await stream(`/lease/${dseq}/1/1/logs?follow=true&tail=5&service=web`, { token });
await until("a line", () => logs.messages.length > 0);
const line = JSON.parse(logs.messages[0].toString());
assert.ok(line.name.startsWith("web"), JSON.stringify(line));
done("stream: logs by token");
const events = await stream(`/lease/${dseq}/1/1/kubeevents?follow=true`, { pem });
await until("an event", () => events.messages.length > 0);
assert.ok(JSON.parse(events.messages[0].toString()).type);
done("stream: events by certificate");

const shell = await stream(
  `/lease/${dseq}/1/1/shell?stdin=1&tty=0&podIndex=0&cmd0=sh&service=web`, { token },
);
const write = (line) => shell.socket.send(Buffer.concat([Buffer.from([104]), Buffer.from(line)]));
write("echo hello there\n");
await until("the shell answers", () => shell.messages.some((message) => (
  message[0] === 100 && message.subarray(1).toString().includes("hello there")
)));
write("exit 3\n");
const result = await until("it ends", () => shell.messages.find((message) => message[0] === 102));
assert.equal(JSON.parse(result.subarray(1).toString()).exit_code, 3);
await shell.closed;
done("stream: a shell by token");

// gRPC, as the SDK speaks it.
const provider = createProviderSDK({
  baseUrl: GATEWAY_GRPC_URL,
  authentication: { type: "mtls", cert: pem.cert, key: pem.privateKey },
});
const told = await provider.akash.provider.v1.getStatus({});
assert.ok(told.cluster && told.bidEngine && told.manifest, JSON.stringify(Object.keys(told)));
done("grpc: status");
const leaseId = { owner: tenant, dseq, gseq: 1, oseq: 1, provider: PROVIDER, bseq: 0 };
const rpc = await provider.akash.provider.lease.v1.serviceStatus({ leaseId, services: ["web"] });
assert.equal(rpc.services.length, 1);
done("grpc: service status by certificate");

// An update, with the SDK of before: its manifest, its hash, its certificate. Prices are no part of a
// manifest, and it does not know the denomination of today.
const next = SDL.fromString(text("nginx:2", "uakt"), "beta3", "mainnet");
const older = await olderCertificates.createCertificate(tenant);
await publish(older.csr ?? older.cert, older.publicKey);
await chain.akash.deployment.v1beta4.updateDeployment({ id, hash: await next.manifestVersion() });
const olderPem = { cert: older.csr ?? older.cert, privateKey: older.privateKey };
await until("the update is taken", async () => {
  const answer = await ask("PUT", path, { pem: olderPem, body: next.manifestSortedJSON() });
  // The chain may have the new hash in a block that the provider has not seen yet.
  noted = JSON.stringify(answer);
  assert.ok([200, 422].includes(answer.status), noted);
  return answer.status === 200;
});
const held = await ask("GET", `/lease/${dseq}/1/1/manifest`, { pem: olderPem });
assert.equal(held.status, 200, held.body);
assert.ok(held.body.includes("nginx:2"), held.body);
done("akashjs: an update by its manifest and its certificate");

// The end ends what follows the lease.
await chain.akash.deployment.v1beta4.closeDeployment({ id });
const ends = await Promise.race([Promise.all([logs.closed, events.closed]), sleep(60_000)]);
assert.ok(ends, "the streams go on although the lease is over");
done(`stream: ended with the lease, ${ends.map(({ code }) => code).join(" and ")}`);
process.exit(0);
