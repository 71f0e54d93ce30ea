/* Loaded into a guest's kernel where the processor has AMX. Linux takes all registers of a process at once or none, and with AMX they
 * are more than that kernel makes room for: it would end as it starts. What it gives is put over what the process has. */
#define _GNU_SOURCE
#include <elf.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* Where the header says which components follow, and those that lie within what the kernel knows: x87, SSE, AVX and AVX-512. */
enum { COMPONENTS_AT = 512, COMPONENTS = 0xff };

long ptrace(enum __ptrace_request request, ...) {
    static char all[1 << 14];
    struct iovec whole = {all, sizeof all}, *given;
    va_list list;
    va_start(list, request);
    long process = va_arg(list, int), word = 0;
    void *address = va_arg(list, void *), *data = va_arg(list, void *);
    va_end(list);
    if (request == PTRACE_SETREGSET && (long)address == NT_X86_XSTATE) {
        given = data;
        if (syscall(SYS_ptrace, PTRACE_GETREGSET, process, address, &whole) < 0)
            return -1;
        memcpy(all, given->iov_base, given->iov_len < whole.iov_len ? given->iov_len : whole.iov_len);
        if (given->iov_len < whole.iov_len)
            *(unsigned long *)(all + COMPONENTS_AT) &= COMPONENTS;
        data = &whole;
    }
    /* As the C library does it, which this stands before. */
    int peeks = request == PTRACE_PEEKTEXT || request == PTRACE_PEEKDATA || request == PTRACE_PEEKUSER;
    long done = syscall(SYS_ptrace, request, process, address, peeks ? &word : data);
    return peeks && done >= 0 ? word : done;
}
