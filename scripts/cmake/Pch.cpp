// SPDX-License-Identifier: Apache-2.0
// Carries the shared precompiled header; it has no code of its own.
