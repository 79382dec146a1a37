// A barrier whose threads sleep after a while, in place of one that always spins. Where another
// process wants the same core, a thread that spins keeps the one it waits for from running.
#pragma once

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#if !defined(__cplusplus)

// How often a thread looks before it sleeps; models/cpu_backends/contention.py sets it. Each takes
// about 50 nanoseconds.
__attribute__((weak, visibility("default"))) int exploracoder_barrier_spins = 1000;
static int barrier_sleepers;

static inline void barrier_wait(void *passed, int seen, int spins) {
    if (spins < __atomic_load_n(&exploracoder_barrier_spins, __ATOMIC_RELAXED)) {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#else
        __asm__ volatile("yield");
#endif
        return;
    }
    __atomic_fetch_add(&barrier_sleepers, 1, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, passed, FUTEX_WAIT_PRIVATE, seen, 0, 0, 0);
    __atomic_fetch_sub(&barrier_sleepers, 1, __ATOMIC_SEQ_CST);
}

static inline void barrier_wake(void *passed) {
    if (__atomic_load_n(&barrier_sleepers, __ATOMIC_SEQ_CST) > 0) {
        syscall(SYS_futex, passed, FUTEX_WAKE_PRIVATE, INT_MAX, 0, 0, 0);
    }
}

#endif
