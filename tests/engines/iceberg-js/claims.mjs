// What this engine says it did, one JSON line a claim, for the matrix to check.
import { appendFileSync } from "node:fs";

const write = (claim) => appendFileSync(process.env.CLAIMS, JSON.stringify(claim) + "\n");

// Claims that `body()` works, or says why it does not; what it returns are proofs.
export async function step(name, body, otherwise = "fail") {
  try {
    write({ step: name, result: "pass", proofs: (await body()) ?? [] });
  } catch (error) {
    console.error(error);
    write({ step: name, result: otherwise, message: `${error.name}: ${error.message}` });
  }
}

// A step that this engine refuses by itself; when it works, that is claimed instead.
export const absent = (name, body) => step(name, body, "absent");
