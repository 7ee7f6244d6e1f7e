/* Classify two images with the program that save.py compiled. */
#include <stdio.h>
#include <stdlib.h>

#include "build/digits.h"

int main(void) {
    enum { IMAGES = 2, PIXELS = 64 };
    float images[IMAGES * PIXELS];
    for (int i = 0; i < IMAGES * PIXELS; i++) images[i] = (float)i / PIXELS;

    digits_set_threads(2); /* of large products; 1 unless this says more */
    vitrify_array input = {images, sizeof images, VITRIFY_FLOAT32, 4, {IMAGES, 1, 8, 8}};
    vitrify_array output = {0};
    /* How large the result will be follows from the sizes of the input. */
    if (digits_shapes(&input, 1, &output, 1) != VITRIFY_OK) {
        fprintf(stderr, "%s\n", digits_last_error());
        return EXIT_FAILURE;
    }
    output.bytes = output.shape[0] * output.shape[1] * (int64_t)sizeof(float);
    output.data = malloc((size_t)output.bytes);
    if (digits_run(&input, 1, &output, 1) != VITRIFY_OK) {
        fprintf(stderr, "%s\n", digits_last_error());
        return EXIT_FAILURE;
    }
    const float *p = output.data;
    for (int64_t i = 0; i < output.shape[0]; i++)
        for (int64_t j = 0; j < output.shape[1]; j++)
            printf("%.4f%s", p[i * output.shape[1] + j], j + 1 < output.shape[1] ? " " : "\n");
    free(output.data);
    digits_release();
    return EXIT_SUCCESS;
}
