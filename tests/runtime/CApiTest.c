/* SPDX-License-Identifier: Apache-2.0 */
/* The C interface from C, against libtilewright.so alone. Its argument is the sample artifact: y = Relu(x) + {1, 2,
 * 3, 4}, x [batch, 4]. */
#include "runtime/tilewright.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;

#define CHECK(condition)                                                                                               \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      fprintf(stderr, "%s:%d: expected %s; last error: %s\n", __FILE__, __LINE__, #condition,                          \
              tilewright_last_error());                                                                                \
      ++failures;                                                                                                      \
    }                                                                                                                  \
  } while (0)

static tilewright_tensor tensorOf(float *data, int64_t *shape, int32_t ndim) {
  tilewright_tensor tensor;
  memset(&tensor, 0, sizeof tensor);
  tensor.struct_size = sizeof tensor;
  tensor.dl.data = data;
  tensor.dl.device.device_type = 1;
  tensor.dl.ndim = ndim;
  tensor.dl.dtype.code = 2;
  tensor.dl.dtype.bits = 32;
  tensor.dl.dtype.lanes = 1;
  tensor.dl.shape = shape;
  return tensor;
}

static void checkErrors(const char *path, tilewright_device *device, tilewright_program *program,
                        tilewright_context *context) {
  tilewright_device *noDevice = NULL;
  tilewright_program *noProgram = NULL;
  tilewright_load_options options = {sizeof options, "none"};
  float data[10] = {0};
  int64_t shape[2] = {2, 5};
  tilewright_tensor wrong = tensorOf(data, shape, 2);
  tilewright_tensor_info info;
  CHECK(tilewright_device_open("abacus", &noDevice) == TILEWRIGHT_USAGE && !noDevice);
  CHECK(strstr(tilewright_last_error(), "there is no device 'abacus'"));
  CHECK(tilewright_program_load("/nonexistent.tw", device, NULL, &noProgram) == TILEWRIGHT_IO && !noProgram);
  CHECK(tilewright_program_load(path, device, &options, &noProgram) == TILEWRIGHT_USAGE);
  CHECK(strstr(tilewright_last_error(), "no plan for fusion mode 'none'"));
  CHECK(tilewright_program_load_memory(data, sizeof data, device, NULL, &noProgram) == TILEWRIGHT_MALFORMED);
  CHECK(tilewright_context_run(context, &wrong, 1, NULL, 0) == TILEWRIGHT_USAGE);
  CHECK(strstr(tilewright_last_error(), "input 'x' has dimension 1 = 5, expected 4"));
  CHECK(tilewright_context_execute(context) == TILEWRIGHT_USAGE);
  wrong.struct_size = sizeof wrong;
  CHECK(tilewright_context_output(context, 0, &wrong) == TILEWRIGHT_USAGE); /* a first bind has failed */
  CHECK(strstr(tilewright_last_error(), "there are no outputs: bind inputs and execute first"));
  { /* a strided shape is checked before anything of it is copied */
    int64_t huge[2] = {(int64_t)1 << 62, 1}, strides[2] = {0, 0};
    tilewright_tensor strided = tensorOf(data, huge, 2);
    strided.dl.strides = strides;
    CHECK(tilewright_context_run(context, &strided, 1, NULL, 0) == TILEWRIGHT_USAGE);
    CHECK(strstr(tilewright_last_error(), "more than 2^48 bytes"));
    strided.dl.ndim = 1;
    CHECK(tilewright_context_run(context, &strided, 1, NULL, 0) == TILEWRIGHT_USAGE);
    CHECK(strstr(tilewright_last_error(), "has 1 dimensions, expected 2"));
  }
  wrong.struct_size = 3;
  CHECK(tilewright_context_run(context, &wrong, 1, NULL, 0) == TILEWRIGHT_USAGE);
  info.struct_size = sizeof info;
  CHECK(tilewright_program_input(program, 1, &info) == TILEWRIGHT_USAGE);
}

static void checkSignature(tilewright_program *program) {
  tilewright_tensor_info info;
  info.struct_size = sizeof info;
  CHECK(tilewright_program_input_count(program) == 1 && tilewright_program_output_count(program) == 1);
  CHECK(tilewright_program_input(program, 0, &info) == TILEWRIGHT_OK);
  CHECK(strcmp(info.name, "x") == 0 && info.ndim == 2 && info.shape[0] == -1 && info.shape[1] == 4);
  CHECK(strcmp(info.dimensions[0], "batch") == 0 && info.dtype.code == 2 && info.dtype.bits == 32);
}

static void checkRuns(tilewright_context *context) {
  float x[8] = {-1, 2, -3, 4, 5, -6, 7, -8}, y[8];
  const float expected[8] = {1, 4, 3, 8, 6, 2, 10, 4};
  int64_t shape[2] = {2, 4}, strides[2] = {1, 2};
  float transposed[8] = {-1, 5, 2, -6, -3, 7, 4, -8};
  tilewright_tensor input = tensorOf(x, shape, 2), output = tensorOf(y, shape, 2), own = tensorOf(NULL, NULL, 0);
  CHECK(tilewright_context_run(context, &input, 1, &output, 1) == TILEWRIGHT_OK);
  CHECK(memcmp(y, expected, sizeof y) == 0);
  CHECK(tilewright_context_run(context, &input, 1, NULL, 0) == TILEWRIGHT_OK);
  CHECK(tilewright_context_output(context, 0, &own) == TILEWRIGHT_OK);
  CHECK(own.dl.ndim == 2 && own.dl.shape[0] == 2 && own.dl.shape[1] == 4 &&
        memcmp(own.dl.data, expected, sizeof y) == 0);
  CHECK(tilewright_context_output(context, 1, &own) == TILEWRIGHT_USAGE);
  CHECK(tilewright_context_bind(context, &input, 1, NULL, 0) == TILEWRIGHT_OK);
  CHECK(tilewright_context_output(context, 0, &own) == TILEWRIGHT_USAGE); /* not those of the run before */
  CHECK(tilewright_context_execute(context) == TILEWRIGHT_OK &&
        tilewright_context_output(context, 0, &own) == TILEWRIGHT_OK);
  input.dl.data = transposed;
  input.dl.strides = strides;
  memset(y, 0, sizeof y);
  CHECK(tilewright_context_run(context, &input, 1, &output, 1) == TILEWRIGHT_OK);
  CHECK(memcmp(y, expected, sizeof y) == 0);
}

int main(int argc, char **argv) {
  tilewright_device *device = NULL;
  tilewright_program *program = NULL;
  tilewright_context *context = NULL;
  if (argc != 2) {
    fprintf(stderr, "usage: %s sample.tw\n", argv[0]);
    return 2;
  }
  CHECK(tilewright_api_version() == TILEWRIGHT_API_VERSION);
  CHECK(strlen(tilewright_version()) > 0);
  CHECK(tilewright_device_open("host", &device) == TILEWRIGHT_OK);
  CHECK(tilewright_program_load(NULL, device, NULL, &program) == TILEWRIGHT_USAGE);
  CHECK(tilewright_program_load(argv[1], device, NULL, &program) == TILEWRIGHT_OK);
  if (failures)
    return 1;
  CHECK(tilewright_context_create(program, NULL, &context) == TILEWRIGHT_OK);
  checkSignature(program);
  checkErrors(argv[1], device, program, context);
  tilewright_device_free(device); /* the program still has what it needs */
  checkRuns(context);
  tilewright_program_free(program);
  checkRuns(context);
  tilewright_context_free(context);
  if (failures == 0)
    puts("the C interface works from C");
  return failures != 0;
}
