// The tables of models are, letter by letter, those that Keras 2.15 prints.
#include <gtest/gtest.h>

#include "rill/rill.h"

namespace tf = rill;
namespace keras = rill::keras;
namespace layers = rill::keras::layers;

namespace {

keras::Model inner() {
  auto i = keras::Input({4}, {.name = "in"});
  return {i, layers::Dense(2, {.name = "b"})(layers::Dense(3, {.name = "a"})(i)), "inner"};
}
keras::Model outer() {
  auto i = keras::Input({4}, {.name = "x"});
  return {i, layers::Dense(1, {.name = "last"})(inner()(i)), "outer"};
}
keras::Model several() {
  auto a = keras::Input({4}, {.name = "a"}), b = keras::Input({3}, {.name = "b"});
  auto c = layers::Concatenate({.name = "cat"})({a, b});
  auto first = layers::Dense(1, {.name = "first"})(c);
  const tf::Nest states = layers::LSTM(2, {.return_state = true, .name = "lstm"})
                              .apply(layers::Reshape({7, 1}, {.name = "r"})(c));
  return {tf::tuple(a, b), tf::tuple(first, states[0], states[1]), "multi"};
}
keras::Model holder() {
  auto a = keras::Input({4}, {.name = "a"}), b = keras::Input({3}, {.name = "b"});
  return {tf::tuple(a, b), several().apply(tf::tuple(a, b))[0], "holder"};
}

TEST(Summary, FramesAroundModelsInside) {
  EXPECT_EQ(outer().summary_text(), R"(Model: "outer"
_________________________________________________________________
 Layer (type)                Output Shape              Param #   
=================================================================
 x (InputLayer)              [(None, 4)]               0         
                                                                 
 inner (Functional)          (None, 2)                 23        
                                                                 
 last (Dense)                (None, 1)                 3         
                                                                 
=================================================================
Total params: 26 (104.00 Byte)
Trainable params: 26 (104.00 Byte)
Non-trainable params: 0 (0.00 Byte)
_________________________________________________________________
)");
  EXPECT_EQ(outer().summary_text({.expand_nested = true}), R"(Model: "outer"
_________________________________________________________________
 Layer (type)                Output Shape              Param #   
=================================================================
 x (InputLayer)              [(None, 4)]               0         
                                                                 
 inner (Functional)          (None, 2)                 23        
|¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯|
| in (InputLayer)            [(None, 4)]               0        |
|                                                               |
| a (Dense)                  (None, 3)                 15       |
|                                                               |
| b (Dense)                  (None, 2)                 8        |
¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯
 last (Dense)                (None, 1)                 3         
                                                                 
=================================================================
Total params: 26 (104.00 Byte)
Trainable params: 26 (104.00 Byte)
Non-trainable params: 0 (0.00 Byte)
_________________________________________________________________
)");
}

TEST(Summary, FramesInFrames) {
  auto i = keras::Input({4}, {.name = "y"});
  keras::Model o = outer();
  keras::Model m(i, layers::Dense(1, {.name = "top"})(o(i)), "outermost");
  EXPECT_EQ(m.summary_text({.expand_nested = true}), R"(Model: "outermost"
_________________________________________________________________
 Layer (type)                Output Shape              Param #   
=================================================================
 y (InputLayer)              [(None, 4)]               0         
                                                                 
 outer (Functional)          (None, 1)                 26        
|¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯|
| x (InputLayer)             [(None, 4)]               0        |
|                                                               |
| inner (Functional)         (None, 2)                 23       |
||¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯||
|| in (InputLayer)           [(None, 4)]               0       ||
||                                                             ||
|| a (Dense)                 (None, 3)                 15      ||
||                                                             ||
|| b (Dense)                 (None, 2)                 8       ||
|¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯|
| last (Dense)               (None, 1)                 3        |
¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯
 top (Dense)                 (None, 1)                 2         
                                                                 
=================================================================
Total params: 28 (112.00 Byte)
Trainable params: 28 (112.00 Byte)
Non-trainable params: 0 (0.00 Byte)
_________________________________________________________________
)");
  o.get_layer("inner")->set_trainable(false);
  EXPECT_EQ(m.summary_text({.expand_nested = true, .show_trainable = true}), R"(Model: "outermost"
____________________________________________________________________________
 Layer (type)                Output Shape              Param #   Trainable  
============================================================================
 y (InputLayer)              [(None, 4)]               0         Y          
                                                                            
 outer (Functional)          (None, 1)                 26        Y          
|¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯|
| x (InputLayer)             [(None, 4)]               0         Y         |
|                                                                          |
| inner (Functional)         (None, 2)                 23        N         |
||¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯||
|| in (InputLayer)           [(None, 4)]               0         N        ||
||                                                                        ||
|| a (Dense)                 (None, 3)                 15        N        ||
||                                                                        ||
|| b (Dense)                 (None, 2)                 8         N        ||
|¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯|
| last (Dense)               (None, 1)                 3         Y         |
¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯
 top (Dense)                 (None, 1)                 2         Y          
                                                                            
============================================================================
Total params: 28 (112.00 Byte)
Trainable params: 5 (20.00 Byte)
Non-trainable params: 23 (92.00 Byte)
____________________________________________________________________________
)");
  EXPECT_EQ(m.summary_text({.line_length = 90, .expand_nested = true}), R"(Model: "outermost"
__________________________________________________________________________________________
 Layer (type)                           Output Shape                        Param #       
==========================================================================================
 y (InputLayer)                         [(None, 4)]                         0             
                                                                                          
 outer (Functional)                     (None, 1)                           26            
|¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯|
| x (InputLayer)                        [(None, 4)]                         0            |
|                                                                                        |
| inner (Functional)                    (None, 2)                           23           |
||¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯||
|| in (InputLayer)                      [(None, 4)]                         0           ||
||                                                                                      ||
|| a (Dense)                            (None, 3)                           15          ||
||                                                                                      ||
|| b (Dense)                            (None, 2)                           8           ||
|¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯|
| last (Dense)                          (None, 1)                           3            |
¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯
 top (Dense)                            (None, 1)                           2             
                                                                                          
==========================================================================================
Total params: 28 (112.00 Byte)
Trainable params: 5 (20.00 Byte)
Non-trainable params: 23 (92.00 Byte)
__________________________________________________________________________________________
)");
}

TEST(Summary, SeveralInputsAndOutputs) {
  EXPECT_EQ(several().summary_text(), R"(Model: "multi"
__________________________________________________________________________________________________
 Layer (type)                Output Shape                 Param #   Connected to                  
==================================================================================================
 a (InputLayer)              [(None, 4)]                  0         []                            
                                                                                                  
 b (InputLayer)              [(None, 3)]                  0         []                            
                                                                                                  
 cat (Concatenate)           (None, 7)                    0         ['a[0][0]',                   
                                                                     'b[0][0]']                   
                                                                                                  
 r (Reshape)                 (None, 7, 1)                 0         ['cat[0][0]']                 
                                                                                                  
 first (Dense)               (None, 1)                    8         ['cat[0][0]']                 
                                                                                                  
 lstm (LSTM)                 [(None, 2),                  32        ['r[0][0]']                   
                              (None, 2),                                                          
                              (None, 2)]                                                          
                                                                                                  
==================================================================================================
Total params: 40 (160.00 Byte)
Trainable params: 40 (160.00 Byte)
Non-trainable params: 0 (0.00 Byte)
__________________________________________________________________________________________________
)");
  EXPECT_EQ(several().summary_text({.show_trainable = true}), R"(Model: "multi"
_____________________________________________________________________________________________________________
 Layer (type)                Output Shape                 Param #   Connected to                  Trainable  
=============================================================================================================
 a (InputLayer)              [(None, 4)]                  0         []                            Y          
                                                                                                             
 b (InputLayer)              [(None, 3)]                  0         []                            Y          
                                                                                                             
 cat (Concatenate)           (None, 7)                    0         ['a[0][0]',                   Y          
                                                                     'b[0][0]']                              
                                                                                                             
 r (Reshape)                 (None, 7, 1)                 0         ['cat[0][0]']                 Y          
                                                                                                             
 first (Dense)               (None, 1)                    8         ['cat[0][0]']                 Y          
                                                                                                             
 lstm (LSTM)                 [(None, 2),                  32        ['r[0][0]']                   Y          
                              (None, 2),                                                                     
                              (None, 2)]                                                                     
                                                                                                             
=============================================================================================================
Total params: 40 (160.00 Byte)
Trainable params: 40 (160.00 Byte)
Non-trainable params: 0 (0.00 Byte)
_____________________________________________________________________________________________________________
)");
  EXPECT_EQ(holder().summary_text({.expand_nested = true}), R"(Model: "holder"
__________________________________________________________________________________________________
 Layer (type)                Output Shape                 Param #   Connected to                  
==================================================================================================
 a (InputLayer)              [(None, 4)]                  0         []                            
                                                                                                  
 b (InputLayer)              [(None, 3)]                  0         []                            
                                                                                                  
 multi (Functional)          [(None, 1),                  40        ['a[0][0]',                   
                              (None, 2),                             'b[0][0]']                   
                              (None, 2)]                                                          
|¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯|
| a (InputLayer)             [(None, 4)]                  0         []                           |
|                                                                                                |
| b (InputLayer)             [(None, 3)]                  0         []                           |
|                                                                                                |
| cat (Concatenate)          (None, 7)                    0         []                           |
|                                                                                                |
| r (Reshape)                (None, 7, 1)                 0         []                           |
|                                                                                                |
| first (Dense)              (None, 1)                    8         []                           |
|                                                                                                |
| lstm (LSTM)                [(None, 2),                  32        []                           |
|                             (None, 2),                                                         |
|                             (None, 2)]                                                         |
¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯
==================================================================================================
Total params: 40 (160.00 Byte)
Trainable params: 40 (160.00 Byte)
Non-trainable params: 0 (0.00 Byte)
__________________________________________________________________________________________________
)");
  EXPECT_EQ(holder().summary_text({.expand_nested = true, .show_trainable = true}),
            R"(Model: "holder"
_____________________________________________________________________________________________________________
 Layer (type)                Output Shape                 Param #   Connected to                  Trainable  
=============================================================================================================
 a (InputLayer)              [(None, 4)]                  0         []                            Y          
                                                                                                             
 b (InputLayer)              [(None, 3)]                  0         []                            Y          
                                                                                                             
 multi (Functional)          [(None, 1),                  40        ['a[0][0]',                   Y          
                              (None, 2),                             'b[0][0]']                              
                              (None, 2)]                                                                     
|¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯|
| a (InputLayer)             [(None, 4)]                  0         []                            Y         |
|                                                                                                           |
| b (InputLayer)             [(None, 3)]                  0         []                            Y         |
|                                                                                                           |
| cat (Concatenate)          (None, 7)                    0         []                            Y         |
|                                                                                                           |
| r (Reshape)                (None, 7, 1)                 0         []                            Y         |
|                                                                                                           |
| first (Dense)              (None, 1)                    8         []                            Y         |
|                                                                                                           |
| lstm (LSTM)                [(None, 2),                  32        []                            Y         |
|                             (None, 2),                                                                    |
|                             (None, 2)]                                                                    |
¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯
=============================================================================================================
Total params: 40 (160.00 Byte)
Trainable params: 40 (160.00 Byte)
Non-trainable params: 0 (0.00 Byte)
_____________________________________________________________________________________________________________
)");
}

TEST(Summary, OutputsByName) {
  auto i = keras::Input({4}, {.name = "x"});
  keras::Model m(tf::Nest::dict({{"k", i}}),
                 tf::Nest::dict({{"p", layers::Dense(1, {.name = "p"})(i)},
                                 {"q", layers::Dense(2, {.name = "q"})(i)}}),
                 "dict");
  EXPECT_EQ(m.summary_text(), R"(Model: "dict"
__________________________________________________________________________________________________
 Layer (type)                Output Shape                 Param #   Connected to                  
==================================================================================================
 x (InputLayer)              [(None, 4)]                  0         []                            
                                                                                                  
 p (Dense)                   (None, 1)                    5         ['x[0][0]']                   
                                                                                                  
 q (Dense)                   (None, 2)                    10        ['x[0][0]']                   
                                                                                                  
==================================================================================================
Total params: 15 (60.00 Byte)
Trainable params: 15 (60.00 Byte)
Non-trainable params: 0 (0.00 Byte)
__________________________________________________________________________________________________
)");
  EXPECT_EQ(keras::Model(i, m.apply(tf::Nest::dict({{"k", i}}))["p"], "dictholder").summary_text(),
            R"(Model: "dictholder"
_________________________________________________________________
 Layer (type)                Output Shape              Param #   
=================================================================
 x (InputLayer)              [(None, 4)]               0         
                                                                 
 dict (Functional)           {'p': (None, 1),          15        
                              'q': (None, 2)}                    
                                                                 
=================================================================
Total params: 15 (60.00 Byte)
Trainable params: 15 (60.00 Byte)
Non-trainable params: 0 (0.00 Byte)
_________________________________________________________________
)");
}

TEST(Summary, WhatTrains) {
  keras::Sequential s(
      {layers::Dense(3, {.input_shape = {4}, .name = "d1"}),
       layers::BatchNormalization({.name = "bn"}), layers::Dense(2, {.name = "d2"})},
      "seq");
  s.get_layer(0)->set_trainable(false);
  EXPECT_EQ(s.summary_text({.show_trainable = true}), R"(Model: "seq"
____________________________________________________________________________
 Layer (type)                Output Shape              Param #   Trainable  
============================================================================
 d1 (Dense)                  (None, 3)                 15        N          
                                                                            
 bn (BatchNormalization)     (None, 3)                 12        Y          
                                                                            
 d2 (Dense)                  (None, 2)                 8         Y          
                                                                            
============================================================================
Total params: 35 (140.00 Byte)
Trainable params: 14 (56.00 Byte)
Non-trainable params: 21 (84.00 Byte)
____________________________________________________________________________
)");
}

TEST(Summary, LongNamesGoOnInTheNextLine) {
  keras::Sequential s(
      {layers::Dense(
           3, {.input_shape = {4}, .name = "a_rather_long_name_of_a_layer_that_goes_on_and_on"}),
       layers::Dense(100000, {.name = std::string(70, 'x')})},
      "long");
  EXPECT_EQ(s.summary_text(), R"(Model: "long"
_________________________________________________________________
 Layer (type)                Output Shape              Param #   
=================================================================
 a_rather_long_name_of_a_la  (None, 3)                 15        
 yer_that_goes_on_and_on (D                                      
 ense)                                                           
                                                                 
 xxxxxxxxxxxxxxxxxxxxxxxxxx  (None, 100000)            400000    
 xxxxxxxxxxxxxxxxxxxxxxxxxx                                      
 xxxxxxxxxxxxxxxxxx (Dense)                                      
                                                                 
=================================================================
Total params: 400015 (1.53 MB)
Trainable params: 400015 (1.53 MB)
Non-trainable params: 0 (0.00 Byte)
_________________________________________________________________
)");
  EXPECT_EQ(s.summary_text({.line_length = 40}), R"(Model: "long"
________________________________________
 Layer (type)     Output Shape    Param 
                                  #     
========================================
 a_rather_long_n  (None, 3)       15    
 ame_of_a_layer_                        
 that_goes_on_an                        
 d_on (Dense)                           
                                        
 xxxxxxxxxxxxxxx  (None, 100000   400000
 xxxxxxxxxxxxxxx  )                     
 xxxxxxxxxxxxxxx                        
 xxxxxxxxxxxxxxx                        
 xxxxxxxxxx (Den                        
 se)                                    
                                        
========================================
Total params: 400015 (1.53 MB)
Trainable params: 400015 (1.53 MB)
Non-trainable params: 0 (0.00 Byte)
________________________________________
)");
  auto a = keras::Input({4}, {.name = "a_very_long_input_name_that_is_wider_than_its_column"});
  auto b = layers::Dense(4, {.name = "another_very_long_name_of_a_layer_here"})(a);
  EXPECT_EQ(keras::Model(a, layers::Add({.name = "sum"})({a, b}), "longgraph").summary_text(),
            R"(Model: "longgraph"
__________________________________________________________________________________________________
 Layer (type)                Output Shape                 Param #   Connected to                  
==================================================================================================
 a_very_long_input_name_tha  [(None, 4)]                  0         []                            
 t_is_wider_than_its_column                                                                       
  (InputLayer)                                                                                    
                                                                                                  
 another_very_long_name_of_  (None, 4)                    20        ['a_very_long_input_name_that_
 a_layer_here (Dense)                                               is_wider_than_its_column[0][0]
                                                                    ']                            
                                                                                                  
 sum (Add)                   (None, 4)                    0         ['a_very_long_input_name_that_
                                                                    is_wider_than_its_column[0][0]
                                                                    ',                            
                                                                     'another_very_long_name_of_a_
                                                                    layer_here[0][0]']            
                                                                                                  
==================================================================================================
Total params: 20 (80.00 Byte)
Trainable params: 20 (80.00 Byte)
Non-trainable params: 0 (0.00 Byte)
__________________________________________________________________________________________________
)");
}

TEST(Summary, LayersThatAreShared) {
  auto a = keras::Input({4}, {.name = "a"}), b = keras::Input({4}, {.name = "b"});
  layers::Dense shared(2, {.name = "shared"});
  keras::Model m(tf::tuple(a, b), layers::Add({.name = "sum"})({shared(a), shared(b)}), "sharing");
  EXPECT_EQ(m.summary_text(), R"(Model: "sharing"
__________________________________________________________________________________________________
 Layer (type)                Output Shape                 Param #   Connected to                  
==================================================================================================
 a (InputLayer)              [(None, 4)]                  0         []                            
                                                                                                  
 b (InputLayer)              [(None, 4)]                  0         []                            
                                                                                                  
 shared (Dense)              (None, 2)                    10        ['a[0][0]',                   
                                                                     'b[0][0]']                   
                                                                                                  
 sum (Add)                   (None, 2)                    0         ['shared[0][0]',              
                                                                     'shared[1][0]']              
                                                                                                  
==================================================================================================
Total params: 10 (40.00 Byte)
Trainable params: 10 (40.00 Byte)
Non-trainable params: 0 (0.00 Byte)
__________________________________________________________________________________________________
)");
}

TEST(Summary, StacksInside) {
  keras::Sequential deep(
      {layers::Dense(3, {.input_shape = {4}, .name = "p"}), layers::Dense(2, {.name = "q"})},
      "deep");
  keras::Sequential s({deep, layers::Dense(1, {.name = "r"})}, "stack");
  EXPECT_EQ(s.summary_text({.expand_nested = true}), R"(Model: "stack"
_________________________________________________________________
 Layer (type)                Output Shape              Param #   
=================================================================
 deep (Sequential)           (None, 2)                 23        
|¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯|
| p (Dense)                  (None, 3)                 15       |
|                                                               |
| q (Dense)                  (None, 2)                 8        |
¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯
 r (Dense)                   (None, 1)                 3         
                                                                 
=================================================================
Total params: 26 (104.00 Byte)
Trainable params: 26 (104.00 Byte)
Non-trainable params: 0 (0.00 Byte)
_________________________________________________________________
)");
  auto i = keras::Input({4}, {.name = "x"});
  keras::Model m(i, layers::Dense(1, {.name = "e"})(s(i)), "withseq");
  EXPECT_EQ(m.summary_text({.expand_nested = true}), R"(Model: "withseq"
_________________________________________________________________
 Layer (type)                Output Shape              Param #   
=================================================================
 x (InputLayer)              [(None, 4)]               0         
                                                                 
 stack (Sequential)          (None, 1)                 26        
|¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯|
| deep (Sequential)          (None, 2)                 23       |
||¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯||
|| p (Dense)                 (None, 3)                 15      ||
||                                                             ||
|| q (Dense)                 (None, 2)                 8       ||
|¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯|
| r (Dense)                  (None, 1)                 3        |
¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯
 e (Dense)                   (None, 1)                 2         
                                                                 
=================================================================
Total params: 28 (112.00 Byte)
Trainable params: 28 (112.00 Byte)
Non-trainable params: 0 (0.00 Byte)
_________________________________________________________________
)");
}

struct Sub : keras::Model {
  layers::Dense a{3, {.name = "a"}};
  keras::Sequential s{{layers::Dense(2, {.name = "in1"})}, "ss"};
  Sub() : Model({.name = "sub"}) {
    track("a", a);
    track("s", s);
  }
  tf::Tensor call(const tf::Tensor& x, const keras::CallContext&) override { return s(a(x)); }
};

TEST(Summary, OfAClassOfOnesOwn) {
  Sub u;
  u.build({tf::None, 4});
  EXPECT_EQ(u.summary_text(), R"(Model: "sub"
_________________________________________________________________
 Layer (type)                Output Shape              Param #   
=================================================================
 a (Dense)                   multiple                  15        
                                                                 
 ss (Sequential)             (None, 2)                 8         
                                                                 
=================================================================
Total params: 23 (92.00 Byte)
Trainable params: 23 (92.00 Byte)
Non-trainable params: 0 (0.00 Byte)
_________________________________________________________________
)");
  EXPECT_EQ(u.summary_text({.expand_nested = true}), R"(Model: "sub"
_________________________________________________________________
 Layer (type)                Output Shape              Param #   
=================================================================
 a (Dense)                   multiple                  15        
                                                                 
 ss (Sequential)             (None, 2)                 8         
|¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯|
| in1 (Dense)                (None, 2)                 8        |
¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯¯
=================================================================
Total params: 23 (92.00 Byte)
Trainable params: 23 (92.00 Byte)
Non-trainable params: 0 (0.00 Byte)
_________________________________________________________________
)");
}

}  // namespace
