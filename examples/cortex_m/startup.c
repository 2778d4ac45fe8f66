/* From reset to main, on any Cortex-M; output and exit status go to the debugger. */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

extern uint8_t data_start[], data_end[], data_load[], bss_start[], bss_end[], stack_top[];

extern int main(void);
extern void initialise_monitor_handles(void); /* of newlib's semihosting */
extern void __libc_init_array(void);

void _init(void) {}
void _fini(void) {}

#define CPACR (*(volatile uint32_t *)0xE000ED88) /* who may use coprocessors */

__attribute__((noreturn)) void reset_handler(void) {
    CPACR |= 0xFu << 20; /* everybody the unit for floats and vectors */
    __asm__ volatile("dsb\n\tisb" ::: "memory");
    memcpy(data_start, data_load, (size_t)(data_end - data_start));
    memset(bss_start, 0, (size_t)(bss_end - bss_start));
    initialise_monitor_handles();
    __libc_init_array();
    exit(main());
}

__attribute__((noreturn)) static void fault(void) { exit(125); }

typedef void (*handler)(void);

__attribute__((section(".vectors"), used)) static const handler vectors[] = {
    (handler)stack_top, reset_handler, fault, fault, fault, fault, fault,
};
