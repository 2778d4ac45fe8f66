/* Three images through the network, with all memory static. */

#include <stdio.h>

#include "arm_nnfunctions.h"
#include "net.h"

static _Alignas(NET_POOL_MAIN_WORKSPACE_ALIGNMENT)
    uint8_t workspace[NET_POOL_MAIN_WORKSPACE_BYTES];

/* An image: a bar along rows, along columns, or a dot. */
static void draw(int8_t *image, int kind) {
    for (int y = 0; y < 8; ++y) {
        for (int x = 0; x < 8; ++x) {
            const int bright = kind == 0 ? y == 3 : kind == 1 ? x == 3 : x == 3 && y == 3;
            image[y * 8 + x] = bright ? 60 : -20;
        }
    }
}

int main(void) {
    static const char *const kinds[] = {"rows", "columns", "dot"};
    for (int kind = 0; kind < 3; ++kind) {
        int8_t image[NET_IMAGE_BYTES];
        int8_t classes[NET_CLASSES_BYTES];
        draw(image, kind);
        const struct net_inputs in = {.image = image};
        struct net_outputs out = {.classes = classes};
        const struct net_pools pools = {.main_workspace = workspace};
        const int32_t status = net_run(&in, &out, &pools);
        if (status != NET_OK) {
            puts(net_message(status));
            return 1;
        }
        printf("%s:", kinds[kind]);
        for (int k = 0; k < 3; ++k) {
            printf(" %d", classes[k] + 128); /* of 256 */
        }
        puts("");
    }
    return 0;
}
