// Compiles Proof.sol and runs it in an EVM: node evm.cjs. Its steps `step1`, `step2`, … are transactions of one account;
// the number that a step returns is how many seconds pass before the next one. The proof passes if no step reverts.
// Exit codes: 0 it passes, 1 a step reverts, 3 it does not compile, 4 solc or the EVM is not installed.
const fs = require("node:fs");
const path = require("node:path");
const { createRequire } = require("node:module");

// The packages lie beside that of `solcjs`, wherever npm put it.
function load(...names) {
  const found = process.env.PATH.split(":").map((folder) => path.join(folder, "solcjs")).find((file) => fs.existsSync(file));
  const beside = createRequire(found ? fs.realpathSync(found) : __filename);
  try {
    const evm = createRequire(beside.resolve("@ethereumjs/evm"));
    return [beside("solc"), ...names.map((name) => evm(name))];
  } catch (error) {
    console.error(`solc or @ethereumjs/evm is not installed: ${error.message.split("\n")[0]}`);
    process.exit(4);
  }
}
const [solc, { createEVM }, { Common, Mainnet }, util, { secp256k1 }] = load(
  "@ethereumjs/evm", "@ethereumjs/common", "@ethereumjs/util", "@noble/curves/secp256k1.js");

function compile() {
  const settings = { evmVersion: "cancun", outputSelection: { "*": { "*": ["abi", "evm.bytecode.object", "evm.methodIdentifiers"] } } };
  const input = { language: "Solidity", sources: { "Proof.sol": { content: fs.readFileSync("Proof.sol", "utf8") } }, settings };
  const read = (file) => (fs.existsSync(file) ? { contents: fs.readFileSync(file, "utf8") } : { error: "no such file" });
  const output = JSON.parse(solc.compile(JSON.stringify(input), { import: read }));
  const errors = (output.errors ?? []).filter((error) => error.severity === "error");
  if (errors.length > 0) {
    console.error(errors.map((error) => error.formattedMessage).join("\n"));
    process.exit(3);
  }
  return output.contracts["Proof.sol"].Proof.evm;
}

// Proofs call this address with a private key and a digest, and get v, r and s.
const signer = {
  address: util.createAddressFromString("0x0000000000000000000000000000000000005160"),
  function: ({ data }) => {
    const signature = secp256k1.sign(data.slice(32, 64), data.slice(0, 32), { prehash: false, format: "recovered" });
    const v = util.setLengthLeft(Uint8Array.of(27 + signature[0]), 32);
    return { executionGasUsed: 3000n, returnValue: util.concatBytes(v, signature.slice(1)) };
  },
};

function reason(bytes) {
  const hex = util.bytesToHex(bytes);
  if (!hex.startsWith("0x08c379a0")) return hex;
  const length = Number(util.bytesToBigInt(bytes.slice(36, 68)));
  return Buffer.from(bytes.slice(68, 68 + length)).toString();
}

async function main() {
  const { bytecode, methodIdentifiers } = compile();
  const common = new Common({ chain: Mainnet, hardfork: "cancun" });
  const evm = await createEVM({ common, allowUnlimitedContractSize: true, customPrecompiles: [signer] });
  const caller = util.createAddressFromString("0x00000000000000000000000000000000000a11ce");
  const header = {
    number: 20_000_000n, timestamp: 1_750_000_000n, coinbase: util.createZeroAddress(), difficulty: 0n,
    prevRandao: util.setLengthLeft(Uint8Array.of(7, 7, 7), 32), gasLimit: 30_000_000n, baseFeePerGas: 7n, getBlobGasPrice: () => 1n,
  };
  const run = async (what, call) => {
    const block = { header };
    const { createdAddress, execResult } = await evm.runCall({ caller, origin: caller, gasLimit: 1n << 40n, block, ...call });
    if (execResult.exceptionError) {
      console.error(`${what}: ${execResult.exceptionError.error}: ${reason(execResult.returnValue)}`);
      process.exit(1);
    }
    return createdAddress ?? execResult.returnValue;
  };
  const proof = await run("deployment", { data: util.hexToBytes(`0x${bytecode.object}`) });
  const account = await evm.stateManager.getAccount(proof);
  account.balance = 10n ** 24n;
  await evm.stateManager.putAccount(proof, account);
  for (let step = 1; methodIdentifiers[`step${step}()`]; step += 1) {
    const returned = await run(`step ${step}`, { to: proof, data: util.hexToBytes(`0x${methodIdentifiers[`step${step}()`]}`) });
    const wait = returned.length === 32 ? util.bytesToBigInt(returned) : 0n;
    header.timestamp += wait + 12n;
    header.number += wait / 12n + 1n;
  }
}

main().catch((error) => {
  console.error(error);
  process.exit(3);
});
