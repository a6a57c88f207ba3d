// Drives a devnet with the clients that tenants use: @cosmjs/stargate and @akashnetwork/chain-sdk.
// Takes RPC_URL, GRPC_URL, TENANT_MNEMONIC and PROVIDER_MNEMONIC from the environment; prints one
// line per thing that worked and fails on the first that did not.
import assert from "node:assert/strict";
import { DirectSecp256k1HdWallet } from "@cosmjs/proto-signing";
import { GasPrice, SigningStargateClient, StargateClient } from "@cosmjs/stargate";
import {
  certificateManager, createChainNodeSDK, createStargateClient, generateManifest,
  generateManifestVersion, yaml,
} from "@akashnetwork/chain-sdk";

const { RPC_URL, GRPC_URL, TENANT_MNEMONIC, PROVIDER_MNEMONIC } = process.env;

const SDL = yaml`
version: "2.0"
services:
  web:
    image: nginx
    expose: [{port: 80, as: 80, to: [{global: true}]}]
profiles:
  compute:
    web: {resources: {cpu: {units: 100m}, memory: {size: 128Mi}, storage: {size: 512Mi}}}
  placement:
    dc: {pricing: {web: {denom: uact, amount: 1000}}}
deployment:
  web: {dc: {profile: web, count: 1}}
`;

const done = (what) => console.log(`ok ${what}`);

async function wallet(mnemonic) {
  const signer = await DirectSecp256k1HdWallet.fromMnemonic(mnemonic, { prefix: "akash" });
  const [{ address }] = await signer.getAccounts();
  return { signer, address, mnemonic };
}

function sdkOf(account) {
  return createChainNodeSDK({
    query: { baseUrl: GRPC_URL },
    tx: { signer: createStargateClient({ baseUrl: RPC_URL, signer: account.signer }) },
  });
}

async function plainCosmos(tenant, provider) {
  const reader = await StargateClient.connect(RPC_URL);
  assert.equal(await reader.getChainId(), "local");
  const height = await reader.getHeight();
  assert.ok(height > 0);
  done(`stargate: chain ${await reader.getChainId()} at height ${height}`);

  const writer = await SigningStargateClient.connectWithSigner(RPC_URL, tenant.signer, {
    gasPrice: GasPrice.fromString("0.025uakt"),
  });
  const before = await reader.getBalance(provider.address, "uakt");
  const sent = await writer.sendTokens(
    tenant.address, provider.address, [{ denom: "uakt", amount: "1234" }], "auto", "hello",
  );
  assert.equal(sent.code, 0, sent.rawLog);
  const after = await reader.getBalance(provider.address, "uakt");
  assert.equal(BigInt(after.amount) - BigInt(before.amount), 1234n);
  done(`stargate: sent 1234uakt in ${sent.transactionHash}`);

  const found = await reader.getTx(sent.transactionHash);
  assert.equal(found.height, sent.height);
  const searched = await reader.searchTx([{ key: "transfer.recipient", value: provider.address }]);
  assert.ok(searched.some((tx) => tx.hash === sent.transactionHash));
  done(`stargate: found it by hash and by event`);

  const refused = await writer.sendTokens(
    tenant.address, provider.address, [{ denom: "uakt", amount: "1" }],
    { amount: [{ denom: "uakt", amount: "1" }], gas: "200000" },
  ).catch((error) => error);
  assert.match(String(refused.message ?? refused.rawLog), /insufficient fee/);
  done("stargate: a fee too low is refused as such");
  const sequence = await reader.getSequence(tenant.address);
  assert.equal(sequence.sequence, 1);
}

async function akash(tenant, provider) {
  const asTenant = sdkOf(tenant);
  const asProvider = sdkOf(provider);

  await asProvider.akash.provider.v1beta4.createProvider({
    owner: provider.address, hostUri: "https://provider.example.com:8443",
    attributes: [{ key: "region", value: "here" }], info: { email: "", website: "" },
  });
  const known = await asTenant.akash.provider.v1beta4.getProvider({ owner: provider.address });
  assert.equal(known.provider.hostUri, "https://provider.example.com:8443");
  done("chain-sdk: a provider registered and read back");

  const pem = await certificateManager.generatePEM(tenant.address);
  await asTenant.akash.cert.v1.createCertificate({
    owner: tenant.address, cert: Buffer.from(pem.cert, "utf-8"), pubkey: Buffer.from(pem.publicKey, "utf-8"),
  });
  const certificates = await asTenant.akash.cert.v1.getCertificates({
    filter: { owner: tenant.address, serial: "", state: "valid" }, pagination: undefined,
  });
  assert.equal(certificates.certificates.length, 1);
  done("chain-sdk: a certificate published and listed");

  const built = generateManifest(SDL);
  assert.ok(built.ok, JSON.stringify(built.value));
  const hash = await generateManifestVersion(built.value.groups);
  const dseq = 4242n;
  const id = { owner: tenant.address, dseq };
  await asTenant.akash.deployment.v1beta4.createDeployment({
    id, groups: built.value.groupSpecs, hash,
    deposit: { amount: { denom: "uact", amount: "5000000" }, sources: [1] },
  });
  const deployment = await asTenant.akash.deployment.v1beta4.getDeployment({ id });
  assert.equal(Buffer.from(deployment.deployment.hash).toString("hex"), Buffer.from(hash).toString("hex"));
  done("chain-sdk: a deployment created from an SDL");

  const orders = await asProvider.akash.market.v1beta5.getOrders({
    filters: { owner: tenant.address, dseq, gseq: 0, oseq: 0, state: "open" }, pagination: undefined,
  });
  assert.equal(orders.orders.length, 1);
  const order = orders.orders[0];
  const bidId = { ...order.id, provider: provider.address, bseq: 0 };
  await asProvider.akash.market.v1beta5.createBid({
    id: bidId, price: { denom: "uact", amount: "500" },
    deposit: { amount: { denom: "uakt", amount: "500000" }, sources: [1] },
    resourcesOffer: order.spec.resources.map((unit) => ({ resources: unit.resource, count: unit.count })),
  });
  await asTenant.akash.market.v1beta5.createLease({ bidId });
  const lease = await asTenant.akash.market.v1beta5.getLease({ id: bidId });
  assert.equal(lease.lease.state, 1);
  done("chain-sdk: order, bid, lease");

  await new Promise((resolve) => setTimeout(resolve, 3000));
  await asProvider.akash.market.v1beta5.withdrawLease({ id: bidId });
  await asTenant.akash.deployment.v1beta4.closeDeployment({ id });
  const closed = await asTenant.akash.market.v1beta5.getLease({ id: bidId });
  assert.equal(closed.lease.state, 3);
  done("chain-sdk: withdrawn and closed");
}

const tenant = await wallet(TENANT_MNEMONIC);
const provider = await wallet(PROVIDER_MNEMONIC);
await plainCosmos(tenant, provider);
await akash(tenant, provider);
process.exit(0);
