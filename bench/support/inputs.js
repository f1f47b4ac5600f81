/** A typical input of an image model. */
export const smallInput = JSON.stringify({
  prompt: 'a quiet harbour at dusk, boats, long exposure',
  width: 1024,
  height: 768,
  seed: 42,
});

/** 64 KiB of JSON. */
export const largeInput = JSON.stringify({ width: 1024, prompt: 'harbour '.repeat(8_189).slice(0, 65_510) });
