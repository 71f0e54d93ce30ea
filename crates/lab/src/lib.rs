//! The laboratory: workloads that run on any [`FileSystem`](howdah_vfs::FileSystem), and what they measured.
