/** Worker that computes positions, so that the page stays responsive. The build makes one file of it. */
import { arrange } from "./layout.js";

onmessage = ({ data: { id, request } }) => {
  const began = performance.now();
  const positions = arrange(request);
  postMessage({ id, positions, ms: performance.now() - began });
};
