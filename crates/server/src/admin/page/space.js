// How full a file system is, in the way of df(1). Pure.

// Below this part of what users may have, or so many bytes, writes fail soon.
const NEARLY_FULL = 0.95;
const FEW_BYTES = 1 << 30;
// File systems without a limit on inodes report none at all.
const FEW_INODES = 0.01;

// The part in use of what users other than root can have: blocks reserved for root count neither as used nor as free.
export function used(capacity) {
  if (!capacity) return 0;
  const taken = capacity.total_bytes - capacity.free_bytes;
  const whole = taken + capacity.available_bytes;
  return whole > 0 ? taken / whole : 0;
}

// `full`, `nearly full`, or an empty text.
export function fullness(capacity) {
  if (!capacity?.total_bytes) return '';
  const { available_bytes: free, total_files: inodes, free_files: left } = capacity;
  if (free === 0 || (inodes && left === 0)) return 'full';
  const isShort = used(capacity) >= NEARLY_FULL && free < FEW_BYTES;
  return isShort || (inodes && left / inodes < FEW_INODES) ? 'nearly full' : '';
}
